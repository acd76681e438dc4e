"""Limits that need rows from which no part of a model learned: a model of several fits has none."""

from __future__ import annotations

from collections.abc import Sequence

from automl_admm.plugins.records import Constraint

# For functions of the user's own, of which nothing else is known.
CURE = (
    'any_rows=True says of a cost that it needs none, kind="checked" of what is counted on the '
    "model alone"
)


def say_unseen(constraints: Sequence[Constraint]) -> str | None:
    """Say which limit lets no model of several fits ship; None without such a limit.

    On the rows of the search each part may break it less than on others, as it learned from them.
    """
    found = next((one for one in constraints if one.needs_unseen), None)
    if found is None:
        return None
    cure = f" ({CURE})" if found.kind == "measured" else ""
    return f"limit '{found.limit.name}' needs rows from which no member learned{cure}"
