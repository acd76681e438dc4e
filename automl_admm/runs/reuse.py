"""Begin with evaluations of other runs, where they still mean the same.

An evaluation is a result here only if everything that its numbers depend on is equal: rows, folds,
seed, versions. Another metric or another limit is computed from its kept out-of-fold predictions.
Without them its pipeline is only tried first.
"""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.evaluations import REUSED, Evaluation
from automl_admm.pipelines.row_weighing import has_weigher
from automl_admm.plugins.records import Constraint
from automl_admm.runs.kept_predictions import Answers
from automl_admm.runs.measured_anew import measure_anew, read_answers
from automl_admm.runs.prepare.basis import basis_of
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.prepare.reused import Reused, ReusedRun
from automl_admm.runs.session.changes import MIXED, best_texts, read_anew
from automl_admm.runs.session.run_log import Log, read_log
from automl_admm.store.run_folder import RunFolder

# Without these equal no number of the other run means anything here.
NEEDED: Mapping[str, str] = {
    "rows": "the rows",
    "columns": "the columns",
    "classes": "the classes or the positive one of them",
    "splits": "the folds",
    "seed": "the seeds",
    "software": "the versions",
    "components": "the components",
}
# The share of the time budget that computing anew may take.
SHARE = 0.1
logger = logging.getLogger(__name__)


def reuse_runs(prepared: Preparation) -> Preparation:
    """Return the preparation with all that other runs give; a run that goes on has it already."""
    config = prepared.config
    if not config.reuse or config.resumed:
        return prepared
    if config.certify is not None:
        raise ConfigurationError(
            "a certificate cannot stand on evaluations of other runs: they may have seen the rows "
            "set aside for it.",
            hint=Remedy("Leave out {reuse} or {certify}."),
        )
    begun = time.monotonic()
    until = begun + (math.inf if config.seconds is None else SHARE * config.seconds)
    found = Reused()
    for path in dict.fromkeys(map(str, config.reuse)):
        prepared, found = _Other(prepared, config.origin / path, path, until).add_to(found)
    return replace(prepared, reused=found)


@dataclass(frozen=True)
class _Other:
    """One other run, compared with this one."""

    prepared: Preparation
    place: Path
    name: str
    until: float
    left: Counter[str] = field(default_factory=Counter)

    @cached_property
    def _folder(self) -> RunFolder:
        return RunFolder(self.place)

    @cached_property
    def _content(self) -> Mapping[str, Any]:
        return self._folder.read(self._folder.settings)

    @cached_property
    def _log(self) -> Log:
        return read_log(self._folder)

    @cached_property
    def _here(self) -> Mapping[str, str | None]:
        return basis_of(self.prepared)

    @cached_property
    def _mixed(self) -> frozenset[str]:
        """The parts with changes between sessions of the other run."""
        return frozenset(self._content.get(MIXED, ()))

    def _is_same(self, part: str) -> bool:
        """Return True if both runs note this part, and the same of it in all their sessions."""
        if part in self._mixed:
            return False
        here = self._here[part]
        return here is not None and self._content["basis"][part] == here

    def add_to(self, found: Reused) -> tuple[Preparation, Reused]:
        """Return the preparation with its starts, and the results with those of this run."""
        differs = tuple(part for part in NEEDED if not self._is_same(part))
        known = {one.key for one in found.evaluations}
        results = [] if differs else self._results(known, len(found.evaluations))
        taken = known | {one.key for one in results}
        starts = self._starts(taken, knows_held_out=not self._is_same("rows"))
        mine = dict.fromkeys((*self.prepared.starts, *starts))
        computed = sum(bool(one.details[REUSED]["computed"]) for one in results)
        told = ReusedRun(
            self.name,
            same=len(results) - computed,
            computed=computed,
            starts=len(starts),
            because=self._because(differs),
            left=dict(self.left),
        )
        prepared = replace(self.prepared, starts=tuple(mine))
        new = [one for one in mine if one not in self.prepared.starts]
        texts = map(prepared.grammar.pipelines.text, new)
        return prepared, Reused(
            (*found.evaluations, *results),
            (*found.runs, told),
            tried_first=(*found.tried_first, *texts),
        )

    def _because(self, differs: Sequence[str]) -> str:
        mixed = [NEEDED[part] for part in differs if part in self._mixed]
        other = [NEEDED[part] for part in differs if part not in self._mixed]
        told = [f"{' and '.join(other)} differ"] if other else []
        told += [f"{' and '.join(mixed)} changed between its sessions"] if mixed else []
        return " and ".join(told)

    def _starts(self, taken: set[str], *, knows_held_out: bool) -> Sequence[Any]:
        """Return its best pipelines without a result here; none if they may know rows held out."""
        work, pipelines = self.prepared.work, self.prepared.grammar.pipelines
        if work.held_out is not None and knows_held_out:
            self.left["may know the rows held out here"] = len(self._log.evaluations)
            return ()
        others = [one for one in self._log.evaluations if one.key not in taken]
        return best_texts(others, pipelines)

    def _results(self, known: set[str], count: int) -> list[Evaluation]:
        """Return its evaluations that are results here, numbered on from a count."""
        if any(one.of_baseline is not None for one in self.prepared.constraints):
            self.left["before the baseline of a limit"] = len(self._log.evaluations)
            return []
        sound = [one for one in self._log.evaluations if one.is_ranked]
        self._leave("failed or not on all rows and folds", len(self._log.evaluations) - len(sound))
        fitting = read_anew(sound, self.prepared.grammar.pipelines).kept
        self._leave("not in this grammar", len(sound) - len(fitting))
        alike = [one for one in fitting if self._is_same("groups") or not self._is_weighed(one)]
        self._leave("weighed for other groups", len(fitting) - len(alike))
        fresh = [one for one in alike if one.key not in known]
        self._leave("known already", len(alike) - len(fresh))
        results = [found for one in fresh if (found := self._result(one)) is not None]
        return [replace(one, number=count + place) for place, one in enumerate(results, start=1)]

    def _is_weighed(self, one: Evaluation) -> bool:
        prepared = self.prepared
        components = prepared.plugins.components[prepared.task]
        return has_weigher(prepared.grammar.pipelines.steps(one.candidate), components)

    def _leave(self, reason: str, count: int) -> None:
        if count:
            self.left[reason] += count

    def _marked(self, one: Evaluation, *, is_computed: bool, **changes: Any) -> Evaluation:
        """Return an evaluation with its origin: it counts in no budget of this run."""
        origin = {"run": self.name, "number": one.number, "computed": is_computed}
        details = {**changes.pop("details", one.details), REUSED: origin}
        return replace(one, details=details, **changes)

    def _result(self, one: Evaluation) -> Evaluation | None:
        """Return the evaluation with the loss and the limits of this run; None without a value."""
        costs = {c.limit.name: self._cost(c, one) for c in self.prepared.constraints}
        lacking = [name for name, value in costs.items() if value is None]
        if lacking:
            self._leave(f"without a value of {' and '.join(lacking)} measured here", 1)
            return None
        if self._is_score_same and all(
            self._has(constraint) for constraint in self.prepared.constraints
        ):
            values = tuple(map(float, self._old_values(one)))
            return self._marked(one, is_computed=False, constraints=values)
        return self._computed(one, costs)

    def _old_values(self, one: Evaluation) -> Iterator[float]:
        there = self._values_of(one)
        return (there[constraint.limit.name] for constraint in self.prepared.constraints)

    def _values_of(self, one: Evaluation) -> Mapping[str, float]:
        names = [limit.name for limit in self._log.limits]
        return dict(zip(names, one.constraints, strict=True))

    @cached_property
    def _only_python(self) -> frozenset[str]:
        """The options of the other run that were Python objects, of which a name says nothing."""
        return frozenset(self._content["request"]["only_python"])

    @cached_property
    def _is_score_same(self) -> bool:
        """True if losses and decisions came about there as they do here."""
        return all(map(self._is_same, ("metric", "thresholds")))

    def _has(self, constraint: Constraint) -> bool:
        """Return True if a limit of the other run is on the same quantity."""
        mine = self.prepared.config.constraints
        is_named = "constraints" not in self._only_python and all(
            isinstance(one, str) for one in mine
        )
        return is_named and any(limit.name == constraint.limit.name for limit in self._log.limits)

    def _cost(self, constraint: Constraint, one: Evaluation) -> float | None:
        """Return the known value of a limit that predictions do not tell; NaN if they do."""
        if constraint.is_told:
            return math.nan
        is_here = constraint.kind != "measured" or self._is_same("machine")
        if not self._has(constraint) or not is_here:
            return None
        return self._values_of(one)[constraint.limit.name]

    def _computed(self, one: Evaluation, costs: Mapping[str, float | None]) -> Evaluation | None:
        """Return the evaluation as its kept predictions have it; None without them."""
        answers = self._answers(one)
        if answers is None:
            return None
        try:
            found = measure_anew(self.prepared, one, answers, costs)
        except Exception as problem:  # noqa: BLE001 - a user's scorer or limit may raise anything
            logger.info("evaluation %d of '%s': %s", one.number, self.name, problem)
            self._leave("whose predictions this metric or limit does not take", 1)
            return None
        if found is None:
            self._leave("without a finite loss or limit", 1)
            return None
        return self._marked(found, is_computed=True)

    def _answers(self, one: Evaluation) -> Answers | None:
        """Return its kept answers, if they are as measured; else count it with the reason."""
        is_late = time.monotonic() > self.until
        found = None if is_late else read_answers(self.prepared, self._folder, one)
        if found is None:
            self._leave("without usable predictions for another metric or limit", 1)
        return found
