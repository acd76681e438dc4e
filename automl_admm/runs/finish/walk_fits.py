"""The final fits of a certifying walk: one of each pipeline, and the reason where there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from automl_admm.certify.walk.sequence import Contender, Step
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.evidence import Evidence
from automl_admm.core.protocols import Finished
from automl_admm.execution.evidence_files import decode_evidence, read_told
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.shipping import EVIDENCE, STOPS
from automl_admm.pipelines.thresholds.by_group import Thresholds
from automl_admm.pipelines.thresholds.path import DecisionPath, moves
from automl_admm.plugins.records import Constraint
from automl_admm.runs.finish.contenders import at_stop
from automl_admm.runs.finish.passed_over import (
    PassedOver,
    not_fitted,
    outside_as_fitted,
    worse_than_unseen,
)


class Bench(Protocol):
    """Makes the models of a walk."""

    def expect(self, evaluation: Evaluation) -> float:
        """Forecast the seconds of a pipeline's final fit."""

    def fit(
        self, evaluation: Evaluation, path: Sequence[Thresholds] = (), *, anyway: bool
    ) -> Finished | PassedOver:
        """Fit a pipeline, measured at all stops of a path; `anyway` if there seems to be no time.

        Else a pipeline without the time for it is passed over.
        """

    def settle(self, finished: Finished, thresholds: Thresholds) -> Finished | None:
        """Ship a fitted model with other thresholds; None if it failed."""


@dataclass(eq=False)
class WalkFits:
    """Own the final fits of a walk, one of each pipeline, measured at all stops of its path.

    Pipelines without a test are `passed`, each with its reason. Of pipelines that all take too long
    the quickest is fitted all the same: something has to ship.
    """

    by_key: Mapping[str, Evaluation]
    constraints: Sequence[Constraint]
    contenders: Sequence[Contender]
    bench: Bench
    fits: dict[str, Finished] = field(default_factory=dict)
    passed: dict[str, PassedOver] = field(default_factory=dict)
    ended_by: str | None = None

    def __post_init__(self) -> None:
        evaluations = [self.by_key[key] for key in self.keys]
        self._quickest = min(evaluations, key=self.bench.expect).key

    @property
    def keys(self) -> tuple[str, ...]:
        """The pipelines of the walk in their order, each once."""
        return tuple(dict.fromkeys(one.key for one in self.contenders))

    def evidence(self, contender: Contender) -> Sequence[Evidence] | None:
        """Return the evidence of a contender; nothing if there is none, None to pass it over.

        Nothing ends the walk: a failure may hang on the rows set aside. That there is no time, or
        one class for all rows of the search, is known without them.
        """
        finished = self._fitted(contender.key)
        if finished is None:
            return () if contender.key == self.ended_by else None
        found = FinalFitResult.from_json(finished.result)
        places = self.places(contender.key)
        stop = None if contender.place is None else places.index(contender.place)
        is_vacuous = found.one_class is not None if stop is None else stop in found.one_sided
        if is_vacuous:
            return None
        seen = read_evidence(finished) if stop is None else self._at(finished, stop)
        if not seen:
            said = found.held_out_problem or "nothing was measured"
            self.end_with(contender.key, f"it has no values on the rows set aside ({said})")
        return seen

    def places(self, key: str) -> list[int]:
        """The stops of a pipeline that are in the order."""
        return [one.place for one in self.contenders if one.key == key and one.place is not None]

    def model(self, step: Step) -> tuple[Finished, Evaluation, tuple[Evidence, ...]]:
        """Return the fit of a tested contender, its evaluation and its evidence."""
        one = step.contender
        evaluation = at_stop(self.by_key[one.key], self.constraints, one.place)
        return self.fits[one.key], evaluation, tuple(self.evidence(one) or ())

    def thresholds(self, key: str, places: Sequence[int]) -> list[Thresholds]:
        """Return the thresholds at some stops of a pipeline."""
        path = DecisionPath.from_details(self.by_key[key].details)
        return [] if path is None else [path.stops[place].thresholds for place in places]

    def all_passed(self, steps: Sequence[Step]) -> list[PassedOver]:
        """Return all pipelines without a test, in their order, each with its reason.

        Those behind a test that failed were not passed over: the walk is over there by its rule.
        """
        tested = {step.contender.key for step in steps if step.findings}
        found = []
        for key in self.keys:
            if key in self.passed:
                found.append(self.passed[key])
            elif key in self.fits and key not in tested:
                told = "fitted on all rows of the search, it gives them all one class"
                found.append(PassedOver(self.by_key[key], told, needs_time=False))
            elif key not in tested and self.ended_by is not None:
                first = self.passed[self.ended_by]
                told = f"the tests ended at #{first.evaluation.number} ({first.reason})"
                found.append(PassedOver(self.by_key[key], told, first.needs_time))
        return found

    def _fitted(self, key: str) -> Finished | None:
        """Return a successful fit, made at the first call; None if it was passed over."""
        if key not in self.fits and key not in self.passed:
            path = self.thresholds(key, self.places(key))
            is_last = key == self._quickest and not self.fits
            finished = self.bench.fit(self.by_key[key], path, anyway=is_last)
            if isinstance(finished, PassedOver):
                self.passed[key] = finished
            elif finished.status is not Status.SUCCESS or finished.folder is None:
                self.passed[key] = not_fitted(self.by_key[key], finished)
                self.ended_by = key
            elif (broken := self._broken(key, finished)) is not None:
                self.passed[key] = broken
            else:
                self.fits[key] = finished
        return self.fits.get(key)

    def _broken(self, key: str, finished: Finished) -> PassedOver | None:
        """Pass over a model outside a limit on a fact, or worse on its own rows than out of fold.

        The rows set aside have no part in either. It decides at the first stop of its path.
        """
        found = FinalFitResult.from_json(finished.result)
        pairs = zip(self.constraints, found.costs, strict=False)
        facts = [value if one.kind == "checked" else math.nan for one, value in pairs]
        limits = [one.limit for one in self.constraints]
        first = next(iter(self.places(key)), None)
        fitted = at_stop(self.by_key[key], self.constraints, first)
        worse = worse_than_unseen(fitted, found.seen_loss)
        told = None if worse is None else replace(worse, evaluation=self.by_key[key])
        return outside_as_fitted(self.by_key[key], limits, facts) or told

    def end_with(self, key: str, reason: str) -> None:
        """Note that the walk ends at a pipeline that was fitted and not tested."""
        self.passed[key] = PassedOver(self.by_key[key], reason, needs_time=False)
        self.ended_by = key

    def _at(self, finished: Finished, stop: int) -> Sequence[Evidence]:
        """Return the evidence at a stop: of the limits that it moves, and of the others."""
        content, seen = read_told(finished, STOPS), read_evidence(finished)
        moved = [moves(one) for one in self.constraints]
        if content is None or not seen:
            return ()
        here = iter(decode_evidence(content)[stop * sum(moved) : (stop + 1) * sum(moved)])
        return [next(here) if is_moved else one for one, is_moved in zip(seen, moved, strict=True)]


def better_first(passed: Sequence[PassedOver], shipped: Evaluation) -> tuple[PassedOver, ...]:
    """Mark which of the evaluations passed over have a better score than the model tested."""
    found = [replace(one, is_better=one.evaluation.loss < shipped.loss) for one in passed]
    return tuple(sorted(found, key=lambda one: (not one.is_better, one.evaluation.loss)))


def read_evidence(finished: Finished) -> list[Evidence]:
    """Read a final fit's evidence on the rows set aside; empty if it was not measured there."""
    content = read_told(finished, EVIDENCE)
    return [] if content is None else decode_evidence(content)
