"""The parts of a limit's evidence, and the possible values of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from automl_admm.core.evidence import (
    F1,
    Calibration,
    Evidence,
    Explained,
    Mean,
    Quantile,
    RankCorrelation,
    Rate,
    RootMeanSquare,
    Timing,
)
from automl_admm.core.returned_evidence import rows_of

Path = tuple[str, ...]
# They count rows, unlike a fact or a comparison of parts.
COUNTING = Rate | F1 | Mean | Quantile | RootMeanSquare | Explained | Calibration | RankCorrelation


def named_parts(evidence: Evidence, path: Path = ()) -> Iterator[tuple[Path, Evidence]]:
    """Yield a record and all records in it, each behind the names of the parts on the way to it."""
    yield path, evidence
    for name, part in inner_parts(evidence).items():
        yield from named_parts(part, (*path, str(name)))


def inner_parts(evidence: Evidence) -> Mapping[str, Evidence]:
    """Return the parts of a comparison by their names."""
    inner = getattr(evidence, "groups", None) or getattr(evidence, "parts", None)
    return inner if isinstance(inner, Mapping) else {}


def ends_of(evidence: Evidence) -> tuple[float, ...]:
    """Return the numbers of a record, known before the rows for a certificate."""
    match evidence:
        case Mean(lowest=lowest, highest=highest):
            return (float(lowest), float(highest))
        case Quantile(quantile=quantile, lowest=lowest):
            return (float(quantile), float(lowest))
        case RootMeanSquare(largest=largest) | Explained(largest=largest):
            return (float(largest),)
    return ()


def demand_possible(evidence: Evidence, *, may_time: bool) -> None:
    """Assert possible values of a record, without its parts."""
    match evidence:
        case Mean(values, lowest, highest):
            inside = (values >= lowest) & (values <= highest)
            assert np.all(inside), f"a value of the mean is outside of {lowest:g} to {highest:g}"
        case Quantile(values, quantile, lowest):
            assert 0 < quantile < 1, f"its quantile is {quantile:g}"
            assert np.all(values >= lowest), f"a value of the quantile is below {lowest:g}"
        case Calibration(probabilities, truth):
            _demand_probabilities(probabilities, truth)
        case Timing(values, quantile):
            assert may_time, "it returned times, and is not declared as measured"
            assert 0 < quantile < 1, f"its quantile is {quantile:g}"
            assert np.all(values >= 0), "a time is below 0"


def _demand_probabilities(probabilities: Any, truth: Any) -> None:
    inside = (probabilities >= 0) & (probabilities <= 1)
    assert np.all(inside), "a probability of the calibration is outside of 0 to 1"
    assert np.isin(truth, (0, 1)).all(), "a truth of the calibration is neither 0 nor 1"


def demand_of_groups(evidence: Evidence, sizes: Mapping[str, int]) -> None:
    """Demand a part for each group, if for any, with no more rows than the group."""
    for _, one in named_parts(evidence):
        parts = inner_parts(one)
        missing = [name for name in sizes if parts.keys() & sizes.keys() and name not in parts]
        assert not missing, f"it leaves out {missing}, a group of {sizes[missing[0]]} rows"
        for name, part in parts.items():
            counted = rows_of(part) if isinstance(part, COUNTING) else 0
            most = sizes.get(name, counted)
            assert counted <= most, f"it counts {counted:.0f} rows for {name!r}, which has {most}"
