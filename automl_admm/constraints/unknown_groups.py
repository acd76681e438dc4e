"""Rows of groups without a threshold of their own, which the threshold for all decides."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from automl_admm.core.errors import NewValuesWarning


def count_unknown_groups(model: Any, rows: Any) -> Counter[str]:
    """Count the rows of each group without a threshold; none if the model decides all alike."""
    count = getattr(model, "unknown_groups", None)
    return Counter() if count is None else Counter(count(rows))


def tell_unknown_groups(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each such group."""
    for name, rows in sorted(counts.items()):
        told = "1 row is" if rows == 1 else f"{rows} rows are"
        yield (
            f"{told} of the group '{name}', which the run did not know: decided at the threshold "
            "for all, and no limit was tested on such rows."
        )


def warn_of_unknown_groups(model: Any, rows: Any, depth: int) -> None:
    """Warn of such groups, in the name of a caller so many calls above."""
    for line in tell_unknown_groups(count_unknown_groups(model, rows)):
        warnings.warn(line, NewValuesWarning, stacklevel=depth + 1)
