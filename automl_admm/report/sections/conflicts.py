"""Limits that conflict: the smallest such sets, the closest evaluations, the trade-offs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.messages import say_count
from automl_admm.report.document import numbers
from automl_admm.report.document.charts import Chart, Layer, legend_of
from automl_admm.report.document.html import Markup, Part, name, tag, together
from automl_admm.report.document.tables import figure, table
from automl_admm.report.pipeline_text import shape_of
from automl_admm.report.searched import Searched
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView
from automl_admm.runs.finish.limit_conflicts import Close, NeverMet, find_conflict, say_conflict
from automl_admm.runs.finish.limit_tradeoffs import TradeOff, trade_offs

NOT_SO_FAR = "Another search may find what this one did not: this is what its evaluations show."


@dataclass(frozen=True, slots=True)
class LimitAlone:
    """A limit that no evaluation is within, with the best value seen and its evaluation.

    With `at_thresholds` that is so at the decision thresholds that were tried. One that was
    `stopped` early has that value on its first folds, and cannot ship, though it may be within.
    """

    limit: str
    best: float | None
    number: int | None
    at_thresholds: bool
    stopped: bool


@dataclass(frozen=True, slots=True)
class RelaxedLimit:
    """A limit of the run, and the bound at which an evaluation would be within it."""

    limit: str
    bound: float
    would_be: str


@dataclass(frozen=True, slots=True)
class ClosePoint:
    """An evaluation outside the limits; with `relaxed` bounds it would be within all of them.

    `values` are in the order of the limits. They are those at another decision threshold than its
    own if there is a `threshold`.
    """

    number: int
    key: str
    score: float
    values: tuple[float | None, ...]
    relaxed: tuple[RelaxedLimit, ...]
    pipeline: str
    threshold: float | None

    @property
    def name(self) -> str:
        """Its number, and the other threshold."""
        at = "" if self.threshold is None else f" at {numbers.plain(self.threshold)}"
        return f"#{self.number}{at}"


@dataclass(frozen=True, slots=True)
class TradeOffPoint:
    """An evaluation on the trade-off of two limits, with its value of each."""

    number: int
    values: tuple[float, float]
    holds: tuple[bool, bool]
    is_feasible: bool
    score: float


@dataclass(frozen=True, slots=True)
class LimitPair:
    """The trade-off of two limits, from the best value of the first to that of the second."""

    limits: tuple[str, str]
    bounds: tuple[float, float]
    points: tuple[TradeOffPoint, ...]


@dataclass(frozen=True, slots=True)
class ExplainedLimits:
    """The reason why nothing is within the limits, if nothing is, and their trade-offs.

    `considered` evaluations on all rows and folds tell classes apart, `feasible` of them are within
    all limits; `one_class` more decide one class for all rows. `conflicts` are the smallest sets of
    limits that no evaluation keeps together. `said` is all that in a sentence.
    """

    metric: str
    limits: tuple[str, ...]
    considered: int
    one_class: int
    feasible: int
    said: str | None
    conflicts: tuple[tuple[str, ...], ...]
    never_met: tuple[LimitAlone, ...]
    closest: tuple[ClosePoint, ...]
    trade_offs: tuple[LimitPair, ...]


def explain_limits(search: Searched) -> ExplainedLimits:
    """Explain the limits of a run by its evaluations."""
    found = find_conflict(search.evaluations, search.limits, search.moved)
    pairs = trade_offs(search.evaluations, search.limits)
    return ExplainedLimits(
        metric=search.metric,
        limits=tuple(map(str, search.limits)),
        considered=found.considered,
        one_class=found.one_class,
        feasible=found.feasible,
        said=say_conflict(found),
        conflicts=tuple(tuple(map(str, one)) for one in found.smallest),
        never_met=tuple(map(_alone, found.never_met)),
        closest=tuple(_close(search, one) for one in found.closest),
        trade_offs=tuple(_pair(search, one) for one in pairs),
    )


def _alone(one: NeverMet) -> LimitAlone:
    number = None if one.nearest is None else one.nearest.number
    best = numbers.finite(one.best)
    return LimitAlone(str(one.limit), best, number, one.at_thresholds, one.is_stopped)


def _close(search: Searched, one: Close) -> ClosePoint:
    evaluation = one.evaluation
    return ClosePoint(
        number=evaluation.number,
        key=evaluation.key,
        score=search.score(evaluation),
        values=tuple(map(numbers.finite, evaluation.constraints)),
        relaxed=tuple(_relaxed(search.limits, limit) for limit in one.relaxed),
        pipeline=evaluation.text,
        threshold=one.threshold,
    )


def _relaxed(limits: tuple[Limit, ...], wider: Limit) -> RelaxedLimit:
    asked = next(one for one in limits if replace(one, bound=wider.bound) == wider)
    return RelaxedLimit(str(asked), wider.bound, str(wider))


def _pair(search: Searched, one: TradeOff) -> LimitPair:
    points = (_point(search, one, found) for found in one.front)
    first, second = one.limits
    return LimitPair((str(first), str(second)), (first.bound, second.bound), tuple(points))


def _point(search: Searched, one: TradeOff, found: Evaluation) -> TradeOffPoint:
    first, second = (found.constraints[place] for place in one.places)
    return TradeOffPoint(
        number=found.number,
        values=(first, second),
        holds=(one.limits[0].holds(first), one.limits[1].holds(second)),
        is_feasible=found.number in search.feasible,
        score=search.score(found),
    )


def measure(view: RunView) -> ExplainedLimits | None:
    """Explain a run folder; None if something is within the limits, or nothing was measured."""
    if not view.limits:
        return None
    found = explain_limits(view.searched)
    return None if found.said is None else found


def draw(found: ExplainedLimits) -> Markup:
    """Draw the conflict, the closest evaluations, and the trade-offs."""
    closest = map(_close_row, found.closest)
    headings = ("Evaluation", "Would be met", "Pipeline", *found.limits, found.metric)
    nearest = table(headings, closest, text_columns=3) if found.closest else None
    return together(
        # A name keeps its letters, so it does not begin the sentence.
        tag("p", name(f"In the evaluations of this run {found.said}."), class_="verdict bad"),
        tag("p", f"{tell_count(found)}. {NOT_SO_FAR}"),
        None if nearest is None else tag("h3", "The closest"),
        nearest,
        *_drawn_pairs(found),
    )


def _close_row(one: ClosePoint) -> tuple[Part, ...]:
    wider = ", ".join(relaxed.would_be for relaxed in one.relaxed)
    values, scored = map(numbers.plain, one.values), numbers.score(one.score)
    return (one.name, name(wider), name(shape_of(one.pipeline)), *values, scored)


def _point_row(one: TradeOffPoint) -> tuple[Part, ...]:
    first, second = map(numbers.plain, one.values)
    return (first, second, _marks(one.holds), numbers.score(one.score), one.number)


def tell_count(found: ExplainedLimits) -> str:
    """Say how many evaluations were considered."""
    some = say_count(found.considered, "evaluation")
    within = f"{found.feasible or 'none'} within all limits"
    more = f"; {found.one_class} more decide one class for all rows" if found.one_class else ""
    return f"{some} on all rows and folds, {within}{more}"


def _drawn_pairs(found: ExplainedLimits) -> Iterator[Markup]:
    pairs = [pair for pair in found.trade_offs if pair.points]
    if not pairs:
        return
    charts = list(map(_chart, pairs))
    figures = (
        figure(chart.drawn(), _caption(pair), _numbers(pair, found.metric))
        for chart, pair in zip(charts, pairs, strict=True)
    )
    yield tag("h3", "Two limits against each other")
    yield legend_of(charts)
    yield tag("div", *figures, class_="charts")


def _caption(pair: LimitPair) -> Markup:
    first, second = map(name, pair.limits)
    return together(first, " against ", second, ": the straight lines are the bounds.")


def _numbers(pair: LimitPair, metric: str) -> Markup:
    return table((*pair.limits, "Within", metric, "#"), map(_point_row, pair.points))


def _chart(pair: LimitPair) -> Chart:
    """Return the chart of the trade-off with both bounds."""
    points, (bound, level) = pair.points, pair.bounds
    across = [*(one.values[0] for one in points), bound]
    met = [one.values for one in points if all(one.holds)]
    one_met = [one.values for one in points if sum(one.holds) == 1]
    none_met = [one.values for one in points if not any(one.holds)]
    return Chart(
        title=f"{pair.limits[0]} against {pair.limits[1]}",
        x=pair.limits[0],
        y=pair.limits[1],
        layers=(
            Layer("steps", "any", [one.values for one in points], "trade-off"),
            Layer("line", "rule", [(min(across), level), (max(across), level)]),
            Layer("dots", "outside", none_met, "within neither"),
            Layer("dots", "best", one_met, "within one of the two"),
            Layer("dots", "inside", met, "within both"),
        ),
        marks_x=(bound,),
        marks_label="the bounds",
        shows_all=True,
    )


def _marks(holds: tuple[bool, bool]) -> str:
    return {(True, True): "both", (True, False): "first", (False, True): "second"}.get(
        holds, "neither"
    )


SECTION = Section(
    "conflicts", "Why nothing is within the limits", ExplainedLimits | None, measure, draw
)
