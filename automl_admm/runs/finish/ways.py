"""The ways to make a model of an evaluation: a fit on all rows, or the models of its folds."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.pipelines.ensembles.fold_models import Keeping, rows_learned, shipped_folds
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.work import PipelineWork
from automl_admm.plugins.records import Constraint
from automl_admm.runs.finish.kept_models import KeptModels
from automl_admm.runs.finish.of_folds import ASKED, OfFolds
from automl_admm.runs.options import AUTO, FOLDS
from automl_admm.runs.prepare.preparation import Preparation

# Fold models of a smaller part of the rows are no match for another pipeline on all of them.
LEAST_PART = 0.5
# A fit may take so many times as long as expected before time is kept back for another.
PATIENCE = 3.0
# Seconds in which a fit that hangs is noticed and ended, on a busy machine.
ENDING = 2.0
# For functions of the user's own, of which nothing else is known.
CURE_OF_UNSEEN = (
    'any_rows=True says of a cost that it needs none, kind="checked" of what is counted on the '
    "model alone"
)

Expect = Callable[[Evaluation | None], float]
# The seconds of the fold models of an evaluation; the last argument tells if they were kept.
ExpectFolds = Callable[[Evaluation | None, bool], float]
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Way:
    """A way to make a model, and the seconds that it is expected to take."""

    evaluation: Evaluation
    expected: float
    by_folds: bool = False

    @property
    def name(self) -> tuple[str, bool]:
        """The name that tells it from other ways."""
        return self.evaluation.key, self.by_folds


@dataclass(frozen=True, eq=False)
class FoldWays:
    """Offers the fold models of evaluations, as far as the run may ship them.

    Rows that a run sets aside test them, unless this is over without a test: then they are no
    longer `tested`.
    """

    prepared: Preparation
    kept: KeptModels
    expect: ExpectFolds
    told: set[str] = field(default_factory=set)
    tested: bool = True

    @property
    def is_asked(self) -> bool:
        """True if the user asked for fold models."""
        return self.prepared.config.refit == FOLDS

    @property
    def is_wanted(self) -> bool:
        """True if evaluations are to keep their fold models."""
        is_auto = self.prepared.config.refit == AUTO
        return self._unseen is None and (self.is_asked or (is_auto and self._learned_enough))

    def given_to_next(self, best: Evaluation | None) -> Mapping[str, Any]:
        """Return the rule of keeping for the next evaluation, beside the best one so far."""
        return {"keeping": Keeping.after(best, self.prepared.aims)} if self.is_wanted else {}

    def seconds(self, evaluation: Evaluation | None) -> float:
        """Forecast the seconds of the fold models that ship."""
        return self.expect(evaluation, evaluation is not None and self.kept.has(evaluation))

    def of(self, evaluation: Evaluation) -> Way | None:
        """Return the way by fold models; None if it is none for this evaluation.

        Where nobody asked for them they ship only if they are there: to fit them takes longer than
        a fit on all rows.
        """
        if self.is_asked and self._unseen is not None:
            self.tell(evaluation, self._unseen)
        if not self.is_wanted or not (self.is_asked or self.kept.has(evaluation)):
            return None
        if broken := self._broken(evaluation):
            if self.is_asked:
                self.tell(evaluation, f"together they would break {broken}")
            return None
        return Way(evaluation, self.seconds(evaluation), by_folds=True)

    def tell(self, evaluation: Evaluation, reason: str) -> None:
        """Warn, once for an evaluation, that its fold models do not ship."""
        if evaluation.key not in self.told:
            self.told.add(evaluation.key)
            told = "the fold models of evaluation %d do not ship: %s"
            logger.warning(told, evaluation.number, reason)

    def describe(self, reason: str) -> OfFolds:
        """Describe fold models that ship, for a reason unless they were asked for."""
        return describe_folds(self.prepared.work, ASKED if self.is_asked else reason)

    def judge(self, evaluation: Evaluation, measured: FinalFitResult) -> Evaluation | None:
        """Return the evaluation with the costs of what ships; None if these break a limit."""
        found, aims = with_costs(evaluation, measured), self.prepared.aims
        if not is_feasible(evaluation, aims) or is_feasible(found, aims):
            return found
        pairs = zip(aims, found.constraints, strict=True)
        broken = [f"{limit}: {value:.4g}" for limit, value in pairs if not limit.holds(value)]
        self.tell(evaluation, f"together they are outside the limits ({'; '.join(broken)})")
        return None

    @property
    def _unseen(self) -> str | None:
        """The reason why several of them together have no value of a limit; None if they have."""
        if (self.tested and self.prepared.aside is not None) or self._count == 1:
            return None
        return say_unseen(self.prepared.constraints)

    @property
    def _count(self) -> int:
        work = self.prepared.work
        return len(shipped_folds(work.splits, work.table.roles))

    @property
    def _learned_enough(self) -> bool:
        work = self.prepared.work
        learned = rows_learned(work.splits, work.table.roles)
        return learned >= LEAST_PART * len(work.table.y)

    def _broken(self, evaluation: Evaluation) -> str:
        """Name a limit on costs that all models together would break; empty for none."""
        limits = zip(self.prepared.constraints, self.prepared.aims, strict=True)
        triples = (
            (*pair, value) for pair, value in zip(limits, evaluation.constraints, strict=True)
        )
        for constraint, aim, value in triples:
            is_sum = constraint.adds_up and not aim.at_least
            if is_sum and aim.holds(value) and not aim.holds(self._count * value):
                return str(aim)
        return ""


@dataclass(frozen=True, eq=False)
class Ways:
    """Offers the ways for any evaluation, those to be preferred first."""

    expect: Expect
    folds: FoldWays | None = None

    def of(self, evaluation: Evaluation) -> list[Way]:
        """Return one or two ways."""
        whole = Way(evaluation, self.expect(evaluation))
        by_folds = None if self.folds is None else self.folds.of(evaluation)
        if by_folds is None or self.folds is None:
            return [whole]
        return [by_folds, whole] if self.folds.is_asked else [whole, by_folds]

    def kept_back(
        self,
        way: Way,
        others: Iterable[Evaluation],
        left: float,
        tried: Collection[tuple[str, bool]] = (),
    ) -> float:
        """Return the seconds that a fit leaves to the quickest way not `tried`, should it hang.

        It leaves none unless it has the time of `PATIENCE` such fits before.
        """
        besides = [Way(one, self.expect(one)) for one in others if one.key != way.evaluation.key]
        besides += self.of(way.evaluation)
        seconds = [one.expected for one in besides if one.name not in {way.name, *tried}]
        if not seconds:
            return 0.0
        needed = 2 * min(seconds) + ENDING
        return needed if needed <= left - PATIENCE * way.expected else 0.0


def with_costs(evaluation: Evaluation, measured: FinalFitResult) -> Evaluation:
    """Return an evaluation with the measured costs of a model in place of its own."""
    if not measured.costs:
        return evaluation
    pairs = zip(evaluation.constraints, measured.costs, strict=True)
    values = tuple(value if math.isnan(cost) else cost for value, cost in pairs)
    return replace(evaluation, constraints=values)


def describe_folds(work: PipelineWork, reason: str) -> OfFolds:
    """Describe the fold models of a run that ship."""
    roles = work.table.roles
    models = len(shipped_folds(work.splits, roles))
    return OfFolds(models, rows_learned(work.splits, roles), len(work.table.y), reason)


def say_unseen(constraints: Sequence[Constraint]) -> str | None:
    """Say which limit lets no model of several fits ship; None without such a limit.

    On the rows of the search each part may break it less than on others, as it learned from them.
    """
    found = next((one for one in constraints if one.needs_unseen), None)
    if found is None:
        return None
    cure = f" ({CURE_OF_UNSEEN})" if found.kind == "measured" else ""
    return f"limit '{found.limit.name}' needs rows from which no member learned{cure}"
