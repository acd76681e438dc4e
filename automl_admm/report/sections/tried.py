"""Components, shapes and orders that were tried, with their cost and their value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import median

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.messages import say_count
from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, Part, name, tag, together
from automl_admm.report.document.tables import bar, folded, table
from automl_admm.report.origins import origin_of, portfolio_of
from automl_admm.report.pipeline_text import components_of, shape_of
from automl_admm.report.searched import Searched
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView

SHOWN_SHAPES, MOST_SHAPES = 15, 100
MOST_SETS, MOST_ORDERS = 10, 12


@dataclass(frozen=True, slots=True)
class Tried:
    """One component, shape or order: its evaluations by their end, their scores, their cost.

    Scores are of evaluations on all rows and folds; `best_within` is the best one within the
    limits. `seconds` is the median of an evaluation, `share` the part of all seconds. `cancelled`
    are those for which the search ended first: they are no failures.
    """

    name: str
    evaluations: int
    succeeded: int
    timeouts: int
    memouts: int
    other_failures: int
    cancelled: int
    best: float | None
    best_within: float | None
    median: float | None
    seconds: float
    share: float


@dataclass(frozen=True, slots=True)
class Orders:
    """The orders tried of one set of components, the best ones of them."""

    components: tuple[str, ...]
    tried: int
    orders: tuple[Tried, ...]


@dataclass(frozen=True, slots=True)
class AllTried:
    """All tried: by last step, the commonest first; by component, shape and order, the best first.

    A long run tries thousands of shapes: the best are listed, and all of them are counted. So are
    the sets of components with several orders. `origins` are the evaluations by what proposed their
    pipelines. Of so many pipelines in the `portfolio` `portfolio_evaluated` were evaluated.
    """

    metric: str
    has_limits: bool
    evaluations: int
    last_steps: tuple[Tried, ...]
    components: tuple[Tried, ...]
    shapes_tried: int
    shapes: tuple[Tried, ...]
    sets_tried: int
    orders: tuple[Orders, ...]
    origins: tuple[Tried, ...] = ()
    portfolio: int = 0
    portfolio_evaluated: int = 0


def measure(view: RunView) -> AllTried:
    """Group the evaluations of a run folder."""
    search, portfolio = view.searched, set(portfolio_of(view))
    return replace(
        measure_search(search),
        origins=_grouped(search, search.evaluations, lambda one: [origin_of(view, one.text)]),
        portfolio=len(portfolio),
        portfolio_evaluated=len(portfolio & {one.text for one in search.evaluations}),
    )


def measure_search(search: Searched) -> AllTried:
    """Group the evaluations by what is in them."""
    evaluations = search.evaluations
    last_steps = _grouped(search, evaluations, lambda one: components_of(one.text)[-1:])
    shapes = _grouped(search, evaluations, lambda one: [shape_of(one.text)])
    orders = sorted(_orders(search), key=lambda one: _best_first(one.orders[0]))
    return AllTried(
        metric=search.metric,
        has_limits=bool(search.limits),
        evaluations=len(evaluations),
        last_steps=tuple(sorted(last_steps, key=lambda one: -one.evaluations)),
        components=_grouped(search, evaluations, lambda one: set(components_of(one.text))),
        shapes_tried=len(shapes),
        shapes=shapes[:MOST_SHAPES],
        sets_tried=len(orders),
        orders=tuple(orders[:MOST_SETS]),
    )


def _grouped(
    search: Searched,
    evaluations: Iterable[Evaluation],
    names: Callable[[Evaluation], Iterable[str]],
) -> tuple[Tried, ...]:
    groups: dict[str, list[Evaluation]] = {}
    for one in evaluations:
        for title in names(one):
            groups.setdefault(title, []).append(one)
    whole = sum(one.seconds for one in search.evaluations) or 1.0
    found = [_tried(search, title, alike, whole) for title, alike in groups.items()]
    return tuple(sorted(found, key=_best_first))


def _best_first(one: Tried) -> tuple[bool, float, str]:
    best = one.best if one.best_within is None else one.best_within
    return one.best_within is None, -(float("-inf") if best is None else best), one.name


def _tried(search: Searched, title: str, alike: list[Evaluation], whole: float) -> Tried:
    ends = Counter(one.status for one in alike)
    scores = [search.score(one) for one in alike if one.is_ranked]
    within = [search.score(one) for one in alike if one.number in search.feasible]
    counted = (Status.SUCCESS, Status.TIMEOUT, Status.MEMOUT, Status.CANCELLED)
    succeeded, timeouts, memouts, cancelled = (ends[status] for status in counted)
    return Tried(
        name=title,
        evaluations=len(alike),
        succeeded=succeeded,
        timeouts=timeouts,
        memouts=memouts,
        other_failures=len(alike) - succeeded - timeouts - memouts - cancelled,
        cancelled=cancelled,
        best=numbers.finite(max(scores, default=None)),
        best_within=numbers.finite(max(within, default=None)),
        median=numbers.finite(median(scores)) if scores else None,
        seconds=round(median(one.seconds for one in alike), 3),
        share=sum(one.seconds for one in alike) / whole,
    )


def _orders(search: Searched) -> Iterator[Orders]:
    """Yield the sets of components that were tried in several orders."""
    alike: dict[tuple[str, ...], list[Evaluation]] = {}
    for one in search.evaluations:
        alike.setdefault(tuple(sorted(components_of(one.text))), []).append(one)
    for components, evaluations in sorted(alike.items()):
        tried = _grouped(search, evaluations, lambda one: [" → ".join(components_of(one.text))])
        if len(tried) > 1:
            yield Orders(components, len(tried), tried[:MOST_ORDERS])


def draw(found: AllTried) -> Markup:
    """Draw a table of last steps, of components, of shapes, and of orders."""
    if not found.components and not found.shapes:
        return tag("p", "Nothing has been evaluated yet.")
    shapes, rest = found.shapes[:SHOWN_SHAPES], found.shapes[SHOWN_SHAPES:]
    return together(
        _last_steps(found),
        _origins(found),
        tag("h3", "Components"),
        _table(found, "Component", found.components),
        tag("h3", f"Shapes: {_counted(found.shapes_tried, len(found.shapes))}"),
        _table(found, "Shape", shapes),
        folded(say_count(len(rest), "more shape"), _table(found, "Shape", rest)) if rest else None,
        _orders_drawn(found) if found.orders else None,
    )


def _last_steps(found: AllTried) -> Markup | None:
    """Draw where the evaluations went: most of a long run may be of one model."""
    if len(found.last_steps) < 2:
        return None
    rows = (
        (
            name(one.name, 200),
            bar(one.evaluations / found.evaluations),
            numbers.rough_share(one.evaluations / found.evaluations),
            one.evaluations,
            numbers.rough_share(one.share),
        )
        for one in found.last_steps
    )
    headings = ("Last step", "", "Share of evaluations", "Evaluations", "Share of time")
    return together(tag("h3", "Where the evaluations went"), table(headings, rows, text_columns=2))


def _origins(found: AllTried) -> Markup | None:
    """Draw where the pipelines came from; nothing if the search proposed them all."""
    if not found.portfolio and len(found.origins) < 2:
        return None
    told = (
        f"The search begins with the portfolio: {found.portfolio} pipelines that were good on "
        f"other tables, of which it evaluated {found.portfolio_evaluated}. It leaves out models "
        "that were outside the limits already, and gives the portfolio half of the time at most."
    )
    return together(
        tag("h3", "Where the pipelines came from"),
        tag("p", told) if found.portfolio else None,
        _table(found, "Proposed by", found.origins),
    )


def _counted(tried: int, listed: int) -> str:
    return f"{tried} tried" if tried == listed else f"{tried} tried, the best {listed} of them here"


def _orders_drawn(found: AllTried) -> Markup:
    some = len(found.orders) < found.sets_tried
    best = f": {_counted(found.sets_tried, len(found.orders))}" if some else ""
    parts: list[Part] = [tag("h3", f"The same components in another order{best}")]
    for one in found.orders:
        parts.append(_table(found, "Order", one.orders))
        if one.tried > len(one.orders):
            rest = say_count(one.tried - len(one.orders), "more order")
            parts.append(tag("p", f"No better: {rest}."))
    return together(*parts)


def _table(found: AllTried, title: str, tried: Iterable[Tried]) -> Markup:
    best = ("Best within limits", "Best of all") if found.has_limits else ("Best",)
    headings = (title, *best, "Median", "Tried", "Failed", "Median time", "Share of time")
    return table(headings, (_row(found, one) for one in tried))


def _row(found: AllTried, one: Tried) -> tuple[Part, ...]:
    best = [numbers.score(one.best_within)]
    best += [numbers.score(one.best)] if found.has_limits else []
    return (
        name(one.name, 200),
        *best,
        numbers.score(one.median),
        one.evaluations,
        _failed(one),
        numbers.duration(one.seconds),
        numbers.rough_share(one.share),
    )


def _failed(one: Tried) -> str:
    kinds = {
        "timeout": one.timeouts,
        "memory": one.memouts,
        "error": one.other_failures,
    }
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count) or "0"


SECTION = Section("tried", "What was tried", AllTried, measure, draw)
