"""An ensemble in the walk for a certificate: chosen on rows of the search, tested as a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.protocols import Finished
from automl_admm.core.ranking import rank
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.row_weighing import has_weigher
from automl_admm.pipelines.thresholds.by_group import Thresholds
from automl_admm.pipelines.thresholds.path import PATH, moves
from automl_admm.runs.finish.certification import Examined
from automl_admm.runs.finish.contenders import contend
from automl_admm.runs.finish.ensemble import Ensemble
from automl_admm.runs.finish.ensemble_fit import OVERHEADS, Chosen, EnsembleFit, read_pool
from automl_admm.runs.finish.final_fit import Press, Refit
from automl_admm.runs.finish.of_folds import OfFolds
from automl_admm.runs.finish.passed_over import PassedOver
from automl_admm.runs.finish.walk_fits import Bench
from automl_admm.runs.finish.ways import Expect, with_costs
from automl_admm.runs.kept_predictions import KeptPredictions
from automl_admm.runs.prepare.preparation import Preparation

# Rows set aside test it, so fewer candidates are enough here.
FEWEST = 4


@dataclass(frozen=True, eq=False)
class Offered:
    """An ensemble whose members are fitted, its evaluation, and what puts it together."""

    chosen: Chosen
    fits: EnsembleFit
    evaluation: Evaluation

    @property
    def ensemble(self) -> Ensemble:
        """The members and their weights."""
        return self.chosen.ensemble

    def bench(self, singles: Bench) -> EnsembleBench:
        """Return what makes it, and the models of single pipelines by another bench."""
        return EnsembleBench(singles, self)


def may_be_certified(prepared: Preparation) -> bool:
    """Return True if an ensemble may be tested: thresholds move all limits of the run.

    Other limits take measurements of the whole, which come after the order of the tests is fixed.
    """
    aside, wanted = prepared.aside, prepared.config.ensemble
    if not wanted or aside is None or not aside.has_thresholds:
        return False
    return all(moves(one) and one.is_told for one in prepared.constraints)


def offer_ensemble(
    prepared: Preparation,
    evaluations: Sequence[Evaluation],
    kept: KeptPredictions,
    press: Press,
    expect: Expect,
) -> Offered | None:
    """Choose an ensemble on out-of-fold predictions, and fit its members; None if there is none.

    Nothing of it looks at the rows set aside. The time for the best pipeline is left alone.
    """
    if not may_be_certified(prepared):
        return None
    ranked = rank([one for one in evaluations if one.one_class is None], prepared.aims)
    if not ranked:
        return None
    best = ranked[0]
    single, seconds = Refit(best), expect(best)
    fits = EnsembleFit(prepared, press, expect, single, {}, fewest=FEWEST, seconds_kept=seconds)
    offered = press.closing.unless_interrupted(lambda: _offered(fits, ranked, kept))
    if offered is None or press.closing.is_cut_short or PATH not in offered.evaluation.details:
        return None
    return offered


def _offered(
    fits: EnsembleFit, ranked: Sequence[Evaluation], kept: KeptPredictions
) -> Offered | None:
    """Choose an ensemble of all pipelines, or of those trained for a limit on groups; fit it."""
    prepared = fits.prepared
    pool = read_pool(prepared, kept)
    if (weighed := _weighed(prepared, ranked)) is not None:
        others = replace(fits, single=Refit(weighed[0]), fitted={}, failed=set(), room={})
        narrow = read_pool(prepared, kept, {one.key for one in weighed})
        if _is_likelier(prepared, others.choose(narrow), fits.choose(pool)):
            fits, pool = others, narrow
    chosen = fits.choose_fitted(pool)
    if chosen is None:
        return None
    return Offered(chosen, fits, chosen.ensemble.as_evaluation(chosen.found, 0.0))


def _weighed(prepared: Preparation, ranked: Sequence[Evaluation]) -> Sequence[Evaluation] | None:
    """Return the pipelines with weights of rows, best first; None if there are too few.

    In an average with others they would give up what they were trained for.
    """
    components = prepared.plugins.components[prepared.task]
    found = [
        one
        for one in ranked
        if one.candidate is not None
        and has_weigher(prepared.work.space.steps(one.candidate), components)
    ]
    return found if FEWEST <= len(found) < len(ranked) else None


def _is_likelier(prepared: Preparation, one: Chosen | None, other: Chosen | None) -> bool:
    """Return True if one ensemble is likely to keep more of its utility than another."""
    if one is None or other is None or prepared.aside is None:
        return one is not None
    both = [chosen.ensemble.as_evaluation(chosen.found, 0.0) for chosen in (one, other)]
    ordered = contend(both, prepared.constraints, prepared.aside)
    return bool(ordered) and ordered[-1].key == both[0].key


def tested_refit(
    examined: Examined, of_folds: Mapping[str, OfFolds], offered: Offered | None
) -> Refit:
    """Return the shipped model of a walk, and the pipelines that it passed over."""
    measured = FinalFitResult.from_json(examined.finished.result)
    own = examined.evaluation.key
    found = Refit(
        with_costs(examined.evaluation, measured),
        measured,
        passed_over=tuple(one for one in examined.passed if one.evaluation.key != own),
        untested=examined.why_untested,
        of_folds=of_folds.get(own),
    )
    if offered is None or offered.evaluation.key != own:
        return found
    return replace(found, ensemble=offered.ensemble, walked=offered.evaluation)


@dataclass(frozen=True, eq=False)
class EnsembleBench:
    """Makes the models of a walk: the ensemble that is offered, and single pipelines."""

    singles: Bench
    offered: Offered

    def expect(self, evaluation: Evaluation) -> float:
        """Forecast the seconds of a model; the members of the ensemble are fitted."""
        if not self._is_offered(evaluation):
            return self.singles.expect(evaluation)
        return OVERHEADS * self.offered.fits.expect(None)

    def fit(
        self, evaluation: Evaluation, path: Sequence[Thresholds] = (), *, anyway: bool
    ) -> Finished | PassedOver:
        """Fit a pipeline, or put the ensemble together, measured at all stops of a path."""
        if not self._is_offered(evaluation):
            return self.singles.fit(evaluation, path, anyway=anyway)
        return self.offered.fits.put_together(self.offered.chosen, path)

    def settle(self, finished: Finished, thresholds: Thresholds) -> Finished | None:
        """Ship a model with other thresholds; None if it failed."""
        return self.singles.settle(finished, thresholds)

    def _is_offered(self, evaluation: Evaluation) -> bool:
        return evaluation.key == self.offered.evaluation.key
