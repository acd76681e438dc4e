"""The end of a run with nothing within its limits: three lines on the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import as_argument
from automl_admm.pipelines.thresholds.path import moved_names
from automl_admm.plugins.records import Constraint
from automl_admm.runs.finish.limit_conflicts import find_conflict, say_conflict, ways

MOST_WAYS = 2
Conflict = Mapping[str, Any]


def conflict_of(
    evaluations: Sequence[Evaluation], constraints: Sequence[Constraint]
) -> dict[str, Any] | None:
    """Return why nothing is within the limits, as plain data; None if something is."""
    limits = [one.limit for one in constraints]
    found = find_conflict(evaluations, limits, moved_names(constraints))
    said = say_conflict(found)
    if said is None:
        return None
    return {
        "said": said,
        "limits": [list(map(str, one)) for one in found.smallest],
        "ways": [f"{', '.join(map(str, one.relaxed))} ({one})" for one in ways(found)],
        "would_be_met": [
            {
                "evaluation": one.evaluation.number,
                "threshold": one.threshold,
                "limits": list(map(str, one.relaxed)),
            }
            for one in found.closest
        ],
    }


def conflict_lines(found: Conflict | None, folder: str | None) -> Iterator[tuple[str, str]]:
    """Yield the conflict, the least change that would do, and the command that tells more."""
    if found is None:
        return
    yield "conflict", found["said"]
    if found["ways"]:
        shown = found["ways"][:MOST_WAYS]
        left = len(found["would_be_met"]) - len(shown)
        more = f"; {left} other way{'s' if left > 1 else ''}" if left else ""
        yield "would be met", f"{', or '.join(shown)}{more}"
    if folder is not None:
        yield "explain", f"automl-admm explain {as_argument(folder)} --limits"
