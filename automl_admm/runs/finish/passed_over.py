"""Evaluations of a run that do not ship, because their final fit was not made or not tested."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.evaluations import Evaluation, Status, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Finished
from automl_admm.core.ranking import rank
from automl_admm.pipelines.fit_results import FinalFitResult

# What did not ship for a fault of its own, in `model.json`.
WENT_WRONG = "went_wrong"
# A sentence names so many; `model.json` has all of them.
MOST_NAMED = 3
# A model may be worse on the rows that it learned from by this part of its loss, and by so many
# standard errors; a loss near 0 has no room in itself.
WORSE, ERRORS, ROOM = 0.5, 3.0, 0.05
OUT_OF_TIME = frozenset({Status.TIMEOUT, Status.CANCELLED})


@dataclass(frozen=True, slots=True)
class PassedOver:
    """An evaluation that was passed over for what ships, and the reason.

    More time may mend it if it `needs_time`. One that is not better than the shipped model was
    only left out of the tests for a certificate.
    """

    evaluation: Evaluation
    reason: str
    needs_time: bool = True
    is_better: bool = True

    def __str__(self) -> str:
        """Say in a sentence that it does not ship, and the reason."""
        verb = "is better than what ships" if self.is_better else "was not tested"
        number = self.evaluation.number
        # What has no number in the log is the ensemble of several.
        return f"{f'Evaluation #{number}' if number else 'The ensemble'} {verb}: {self.reason}."

    def as_content(self) -> dict[str, Any]:
        """Return it as `model.json` has it."""
        return {"evaluation": self.evaluation.number, "reason": self.reason}


def too_long(evaluation: Evaluation, expected: float, left: float) -> PassedOver:
    """Pass over an evaluation whose final fit is expected to take longer than the time left."""
    told = f"its final fit was expected to take up to {expected:.1f} s, and {left:.1f} s were left"
    return PassedOver(evaluation, told)


def not_fitted(evaluation: Evaluation, finished: Finished) -> PassedOver:
    """Pass over an evaluation whose final fit failed."""
    told = f"it could not be fitted on all rows ({say_end(finished).rstrip('.')})"
    return PassedOver(evaluation, told, needs_time=finished.status in OUT_OF_TIME)


def not_certified(evaluation: Evaluation) -> PassedOver:
    """Pass over an evaluation without a proof, for an earlier model that has one."""
    told = "it was not certified, and the earlier model is"
    return PassedOver(evaluation, told, needs_time=False)


def outside_as_fitted(
    evaluation: Evaluation, limits: Sequence[Limit], values: Sequence[float]
) -> PassedOver | None:
    """Pass over an evaluation whose model breaks limits on facts, by their values on the model.

    A NaN stands for a limit on anything else. None if no limit is broken.
    """
    pairs = zip(limits, values, strict=False)
    known = [(limit, value) for limit, value in pairs if not math.isnan(value)]
    broken = [f"{limit}: {value:.4g}" for limit, value in known if not limit.holds(value)]
    if not broken:
        return None
    told = f"fitted on all rows it is outside the limits ({'; '.join(broken)})"
    return PassedOver(evaluation, told, needs_time=False)


def newly_outside(
    evaluation: Evaluation, as_fitted: Evaluation, limits: Sequence[Limit]
) -> PassedOver | None:
    """Pass over an evaluation within the limits if it is outside as it was fitted."""
    if not is_feasible(evaluation, limits):
        return None
    return outside_as_fitted(evaluation, limits, as_fitted.constraints)


def worse_than_unseen(evaluation: Evaluation, seen_loss: float) -> PassedOver | None:
    """Pass over an evaluation whose model is worse on its own rows than out of fold.

    A fit may diverge on all rows though it did not on those of the folds, as boosting with a large
    learning rate does. It is worse if its loss there exceeds that out of fold by half of it, three
    standard errors of the folds and 0.05. None without a loss there, and if it is not worse.
    """
    scores = np.array(evaluation.details.get("scores", ()), dtype=float)
    error = float(np.std(scores, ddof=1)) / math.sqrt(len(scores)) if len(scores) > 1 else 0.0
    allowed = evaluation.loss + WORSE * abs(evaluation.loss) + ERRORS * error + ROOM
    # NaN is not larger than anything.
    if not seen_loss > allowed:
        return None
    told = "its fit on all rows went wrong: on rows that it learned from its loss is "
    told += f"{seen_loss:.4g}, on others it was {evaluation.loss:.4g}"
    return PassedOver(evaluation, told, needs_time=False)


def newly_of_one_class(evaluation: Evaluation, only: str | None) -> PassedOver | None:
    """Pass over an evaluation that told classes apart, and whose model gives all rows one class."""
    if only is None or evaluation.one_class is not None:
        return None
    told = f"fitted on all rows it calls every one of them '{only}'"
    return PassedOver(evaluation, told, needs_time=False)


def went_wrong(evaluation: Evaluation, measured: FinalFitResult) -> PassedOver | None:
    """Pass over an evaluation whose fit on all rows went wrong; None if it did not."""
    worse = worse_than_unseen(evaluation, measured.seen_loss)
    return worse or newly_of_one_class(evaluation, measured.one_class)


def say_unsound(reason: str | None) -> str | None:
    """Say the reason why a shipped model is not sound; None if it is."""
    if reason is None:
        return None
    return f"no sound model could be fitted; of the one that ships: {reason}."


def say_end(finished: Finished) -> str:
    """Say the end of a task in words: its status and its message."""
    return f"{finished.status} {finished.message}".strip()


def if_better(
    passed: Sequence[PassedOver], shipped: Evaluation, limits: Sequence[Limit]
) -> tuple[PassedOver, ...]:
    """Return the evaluations passed over that still rank before what ships, best first."""
    others = {one.evaluation.key: one for one in passed if one.evaluation.key != shipped.key}
    ranked = rank([shipped, *(one.evaluation for one in others.values())], limits)
    places = (place for place, one in enumerate(ranked) if one is shipped)
    before = ranked[: next(places, None)]
    return tuple(others[one.key] for one in before)


def say_passed_over(passed: Sequence[PassedOver]) -> str | None:
    """Say the first of the evaluations passed over, and a few more; None for none."""
    if not passed:
        return None
    named = [f"#{one.evaluation.number} ({one.reason})" for one in passed[1:MOST_NAMED]]
    count = len(passed) - 1 - len(named)
    if count > 0:
        named.append(f"{count} more")
    return f"{passed[0]} So for {', '.join(named)}." if named else str(passed[0])


def as_content(passed: Sequence[PassedOver]) -> dict[str, Any] | None:
    """Return the evaluations passed over as `model.json` has them; None for none."""
    if not passed:
        return None
    return passed[0].as_content() | {
        "said": say_passed_over(passed),
        "is_better": passed[0].is_better,
        "needs_time": any(one.needs_time for one in passed),
        "others": [one.as_content() for one in passed[1:]],
    }


def read_passed_over(manifest: Mapping[str, Any] | None) -> str | None:
    """Return the sentence that the manifest of a model has on them; None for none."""
    found = None if manifest is None else manifest.get("passed_over")
    return None if found is None else str(found["said"])


def numbers_passed_over(manifest: Mapping[str, Any]) -> frozenset[int]:
    """Return the numbers of the evaluations that the manifest of a model has as passed over."""
    found = manifest.get("passed_over") or {"others": []}
    return frozenset(one["evaluation"] for one in (found, *found["others"]) if "evaluation" in one)


def has_better(manifest: Mapping[str, Any] | None) -> bool:
    """Return True if the manifest names an evaluation that is better than the model."""
    found = None if manifest is None else manifest.get("passed_over")
    return found is not None and bool(found.get("is_better", True))


def more_time_helps(manifest: Mapping[str, Any] | None) -> bool:
    """Return True if the manifest says that more time lets a better evaluation ship."""
    found = None if manifest is None else manifest.get("passed_over")
    return found is not None and bool(found.get("needs_time", True))
