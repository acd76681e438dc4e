"""Choose the best thresholds of a pipeline, and measure it with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from automl_admm.core.space import Array
from automl_admm.pipelines.build import predict_scores
from automl_admm.pipelines.decision_scores import decision_score
from automl_admm.pipelines.labels import UNDECIDED, label_decided
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.checks import turn
from automl_admm.pipelines.predictions.measured import Seen, Table, score_of, score_of_decided
from automl_admm.pipelines.predictions.plain_decisions import told_decisions
from automl_admm.pipelines.predictions.wrappers import Decided, Numbered
from automl_admm.pipelines.thresholds.band import choose_band, choose_least_share
from automl_admm.pipelines.thresholds.by_class import choose_class_weights, decide_by_weights
from automl_admm.pipelines.thresholds.by_group import (
    GroupRule,
    Names,
    Thresholds,
    choose_group_thresholds,
)
from automl_admm.pipelines.thresholds.by_score import best_at_thresholds, threshold_for_score
from automl_admm.pipelines.thresholds.class_costs import (
    ClassCosts,
    at_temperature,
    choose_temperature,
)
from automl_admm.pipelines.thresholds.cost import NAME as COST
from automl_admm.pipelines.thresholds.cost import Cost
from automl_admm.pipelines.thresholds.cuts import Band, Cut, cut_scores, has_both
from automl_admm.pipelines.thresholds.fixed import fix
from automl_admm.pipelines.thresholds.path import DecisionPath, trace_path
from automl_admm.pipelines.thresholds.single import (
    DEFAULTS,
    Aimed,
    Fold,
    balanced_accuracy,
    choose_threshold,
    decide,
    response_of,
)
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint

# The thresholds of some rows, given their features, or the band of all.
Bar = Callable[[Any], Cut]
Labels = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Decider:
    """Chooses decision thresholds for the limits that a run aims at.

    With a `rule`, each of its groups may have a threshold of its own. A row stands `repeats` times
    in the parts seen. Thresholds are the best within the limits by the expected `cost`, if it is
    given; else by the metric if it looks at decisions; else by balanced accuracy. Of several
    classes the one with the smallest expected cost is decided for. At `most` this share of the rows
    may be left undecided; then all of that is measured on the decided rows.
    """

    metric: Metric
    aimed: tuple[Aimed, ...]
    rule: GroupRule | None = None
    repeats: float = 1.0
    cost: Cost | None = None
    most: float = 0.0

    def choose(self, seen: Sequence[Seen]) -> Thresholds | None:
        """Choose the thresholds for all folds, if there are any to choose and they matter.

        Without limits to aim at they matter in three cases: decisions have a cost; another one is
        better for a metric that looks at decisions, by more than its noise; or no measurement looks
        at them, and plain `predict` decides one class for all rows though their scores differ.
        """
        response = response_of(seen[0].pipeline)
        if response == "predict_proba" and all(map(_has_several, seen)):
            return self._choose_by_class(seen)
        # A fold whose training rows lacked a class has one column: nothing to move there.
        if not response or not all(map(_has_two_sides, seen)):
            return None
        parts, by_decisions = [one.part for one in seen], any(one.by_decisions for one in seen)
        if by_decisions and not self.aimed and self.cost is None:
            better = threshold_for_score(self.metric, seen, DEFAULTS[response], self.repeats)
            return None if better is None else Thresholds(better)

        def merit(cut: float | Band) -> float:
            return self._worth(seen, [_at(cut)] * len(seen))

        has_merit = by_decisions or self.cost is not None
        is_one_sided = not has_both(np.concatenate([told_decisions(one) for one in seen]))
        single = choose_threshold(
            parts,
            self.aimed,
            DEFAULTS[response],
            merit if has_merit else None,
            is_wanted=self.cost is not None or self.most > 0.0 or is_one_sided,
        )
        if single is not None and self.most > 0.0:
            band = choose_band(parts, self.aimed, single, self.most, merit if has_merit else None)
            return Thresholds.at(band)
        if single is None or self.rule is None:
            return None if single is None else Thresholds(single)
        return self._choose_by_group(seen, single, self.rule, has_merit=has_merit)

    def path(
        self, seen: Sequence[Seen], chosen: Thresholds, constraints: Sequence[Constraint]
    ) -> DecisionPath:
        """Return the path of thresholds for a certificate; `constraints` are those that they move.

        Its utility is that by which thresholds are chosen.
        """
        names = None if self.rule is None else [self.rule.names(one.rows.X) for one in seen]
        by_decisions = any(one.by_decisions for one in seen)
        folds = [Fold.of_functions(one.part, ()) for one in seen]

        def judge(thresholds: Thresholds) -> tuple[float, float | None]:
            bars = [_at(thresholds.cut)] * len(seen)
            if names is not None and self.rule is not None:
                pairs = zip(seen, names, strict=True)
                bars = [_bar(one, known, self.rule, thresholds) for one, known in pairs]
            score = self._mean_score(seen, bars) if by_decisions else None
            loss = None if score is None else self.metric.loss(score)
            if self.cost is not None:
                return -_cost_at(self.cost, seen, bars), loss
            if score is not None:
                return score, loss
            cuts = [bar(one.rows.X) for one, bar in zip(seen, bars, strict=True)]
            return balanced_accuracy(folds, cuts), None

        stops = trace_path([one.part for one in seen], names, chosen, constraints, judge)
        return DecisionPath(_name_utility(self, by_decisions=by_decisions), stops)

    def loss(self, seen: Sequence[Seen], threshold: float) -> float:
        """Return the mean loss over the folds with one threshold."""
        found = [self._score(one, _labels_at(one, _at(threshold))) for one in seen]
        return float(np.mean([self.metric.loss(score) for score in found]))

    def decide(self, seen: Sequence[Seen], thresholds: Thresholds) -> list[Seen]:
        """Return the pipeline as seen with these thresholds, as it would ship."""
        if thresholds.by_class:
            return [self._decided_by_class(one, thresholds) for one in seen]
        # Without groups one bar does for all folds.
        bars = [_at(thresholds.cut)] * len(seen)
        if thresholds.by_group and self.rule is not None:
            rule = self.rule
            bars = [_bar(one, rule.names(one.rows.X), rule, thresholds) for one in seen]
        pairs = zip(seen, bars, strict=True)
        return [self._decided(one, thresholds, bar) for one, bar in pairs]

    def _choose_by_class(self, seen: Sequence[Seen]) -> Thresholds | None:
        """Choose weights of several classes, if the plain decisions break a limit.

        Decisions by a cost have weights, too: those that are all 1 decide by the costs alone.
        """
        if not self.aimed and self.cost is None:
            return None
        parts = [one.part for one in seen]
        temperature = 1.0 if self.cost is None else choose_temperature(parts)
        costs = at_temperature(self.cost, temperature)

        def merit(weights: Sequence[float], least: float = 0.0) -> float:
            if self.cost is not None:
                decided = [_weighed(one, weights, costs, least) for one in parts]
                return -_mean_cost(self.cost, decided)
            decided = [_weighed(one, weights, None, least) for one in parts]
            labels = [_labels_by(one, weights, None, least) for one in seen]
            return self._mean_of(seen, decided, labels)

        has_merit = self.cost is not None or any(one.by_decisions for one in seen)
        found = choose_class_weights(parts, self.aimed, merit if has_merit else None, costs)
        names, least = list(map(str, seen[0].rows.classes)), 0.0
        weights = found or (1.0,) * len(names)
        if self.most > 0.0:
            worth = partial(merit, weights) if has_merit else None
            least = choose_least_share(parts, self.aimed, weights, self.most, worth)
        if found is None and self.cost is None and least == 0.0:
            return None
        by_class = dict(zip(names, weights, strict=True))
        return Thresholds(math.nan, by_class=by_class, temperature=temperature, least_share=least)

    def _choose_by_group(
        self, seen: Sequence[Seen], single: float, rule: GroupRule, *, has_merit: bool
    ) -> Thresholds:
        names = [rule.names(one.rows.X) for one in seen]

        def merit(thresholds: Thresholds) -> float:
            pairs = zip(seen, names, strict=True)
            bars = [_bar(one, known, rule, thresholds) for one, known in pairs]
            return self._worth(seen, bars)

        parts = [one.part for one in seen]
        return choose_group_thresholds(
            parts, names, self.aimed, single, merit if has_merit else None
        )

    def _decided(self, seen: Seen, thresholds: Thresholds, bar: Bar) -> Seen:
        classes = seen.rows.classes
        fixed = fix(seen.pipeline, thresholds, classes, self.rule, self.cost)
        numbered = Numbered(fixed, classes)
        part = replace(decide(seen.part, bar(seen.rows.X)), pipeline=numbered)
        return replace(seen, part=part, score=self._score(seen, _labels_at(seen, bar)))

    def _decided_by_class(self, seen: Seen, thresholds: Thresholds) -> Seen:
        weights, classes = tuple(thresholds.by_class.values()), seen.rows.classes
        costs, least = at_temperature(self.cost, thresholds.temperature), thresholds.least_share
        fixed = fix(seen.pipeline, thresholds, classes, None, self.cost)
        decided = _weighed(seen.part, weights, costs, least)
        part = replace(decided, pipeline=Numbered(fixed, classes))
        score = self._score(seen, _labels_by(seen, weights, costs, least))
        return replace(seen, part=part, score=score)

    def _worth(self, seen: Sequence[Seen], bars: Sequence[Bar]) -> float:
        """Return what thresholds are chosen by if it is no balanced accuracy; more is better."""
        if self.cost is None:
            return self._mean_score(seen, bars)
        return -_cost_at(self.cost, seen, bars)

    def _mean_score(self, seen: Sequence[Seen], bars: Sequence[Bar]) -> float:
        decided = [decide(one.part, bar(one.rows.X)) for one, bar in zip(seen, bars, strict=True)]
        labels = [_labels_at(one, bar) for one, bar in zip(seen, bars, strict=True)]
        return self._mean_of(seen, decided, labels)

    def _mean_of(
        self,
        seen: Sequence[Seen],
        decided: Sequence[EvaluatedPipeline],
        labels: Sequence[Labels],
    ) -> float:
        """Return the mean score of decisions, by the scorer's quick form if it has one."""
        found = []
        for one, part, of_rows in zip(seen, decided, labels, strict=True):
            is_quick = one.by_decisions and self.most == 0.0
            quick = decision_score(self.metric, one.rows) if is_quick else None
            found.append(self._score(one, of_rows) if quick is None else quick(part.decisions))
        return float(np.mean(found))

    def _score(self, seen: Seen, labels: Labels) -> float:
        """The score with other decisions; nothing is predicted for it again."""
        if not seen.by_decisions:
            return seen.score
        decided = Decided(seen.answers, labels)
        if self.most > 0.0:
            return score_of_decided(self.metric, decided, seen.rows)
        return score_of(self.metric, decided, seen.rows)


def _name_utility(decider: Decider, *, by_decisions: bool) -> str:
    """Name the utility by which thresholds are chosen."""
    if decider.cost is not None:
        return COST
    name = decider.metric.name if by_decisions else "balanced accuracy"
    return f"{name} of the decided rows" if decider.most > 0.0 else name


def _cost_at(cost: Cost, seen: Sequence[Seen], bars: Sequence[Bar]) -> float:
    """Return the mean cost over the rows of all folds, decided at their thresholds."""
    return _mean_cost(
        cost, [decide(one.part, bar(one.rows.X)) for one, bar in zip(seen, bars, strict=True)]
    )


def _mean_cost(cost: Cost, decided: Sequence[EvaluatedPipeline]) -> float:
    """Return the mean cost of the rows of all parts together."""
    weights = None
    if decided[0].weights is not None:
        weights = np.concatenate([part.weights for part in decided])
    y = np.concatenate([part.y for part in decided])
    return cost.mean(y, np.concatenate([part.decisions for part in decided]), weights)


def _weighed(
    part: EvaluatedPipeline,
    weights: Sequence[float],
    costs: ClassCosts | None,
    least: float = 0.0,
) -> EvaluatedPipeline:
    return replace(part, decisions=decide_by_weights(part.predictions, weights, costs, least))


def _at(cut: float | Band) -> Bar:
    """The same threshold or band for all rows."""
    return lambda _: cut


def _bar(seen: Seen, names: Names, rule: GroupRule, thresholds: Thresholds) -> Bar:
    """Return the threshold of each row; the groups of seen rows are known already."""
    known = thresholds.of_rows(names)
    return lambda X: known if X is seen.rows.X else thresholds.of_rows(rule.names(X))


def bar_of(thresholds: Thresholds, rows: Table, rule: GroupRule | None) -> Cut:
    """Return the threshold or the band of all rows of a table, or the threshold of each."""
    if not thresholds.by_group or rule is None:
        return thresholds.cut
    return thresholds.of_rows(rule.names(rows.X))


def best_score(metric: Metric, seen: Seen) -> float:
    """Return the score of a fold; for decisions between two classes, at its best threshold."""
    response = response_of(seen.pipeline)
    if not seen.by_decisions or not response or not _has_two_sides(seen):
        return seen.score
    return best_at_thresholds(metric, seen, DEFAULTS[response])


def scores_of(pipeline: Any, rows: Table) -> Array:
    """Return the scores of the positive class."""
    scores = np.asarray(turn(predict_scores(pipeline, rows.X), rows.classes))
    return scores if scores.ndim == 1 else scores[:, -1]


def _has_two_sides(seen: Seen) -> bool:
    """Return True if the scores are for two classes: one for each row, or two probabilities."""
    classes = seen.rows.classes
    shape = seen.part.predictions.shape
    return classes is not None and len(classes) == 2 and shape[1:] in ((), (2,))


def _has_several(seen: Seen) -> bool:
    """Return True if there is a probability for each of three classes or more."""
    classes, shape = seen.rows.classes, seen.part.predictions.shape
    return classes is not None and len(classes) > 2 and shape[1:] == (len(classes),)


def _labels_by(
    seen: Seen, weights: Sequence[float], costs: ClassCosts | None, least: float = 0.0
) -> Labels:
    """Return the labels of rows by the weights of the classes, and by the costs of decisions."""
    pipeline, classes = seen.answers, seen.rows.classes

    def labels(X: Any) -> Any:
        scores = predict_scores(pipeline, X)
        return _named(decide_by_weights(scores, weights, costs, least), classes)

    return labels


def _labels_at(seen: Seen, bar: Bar) -> Labels:
    """Return the labels of rows at their thresholds."""
    pipeline, classes = seen.answers, seen.rows.classes

    def labels(X: Any) -> Any:
        scores = turn(predict_scores(pipeline, X), classes)
        sure = scores if scores.ndim == 1 else scores[:, -1]
        return _named(cut_scores(sure, bar(X)), classes)

    return labels


def _named(numbers: Any, classes: Any) -> Any:
    """Return the labels; with rows left undecided they are objects."""
    is_whole = bool((numbers != UNDECIDED).all())
    return classes[numbers] if is_whole else label_decided(numbers, classes)
