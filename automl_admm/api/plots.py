"""Pictures of a search on matplotlib's axes, drawn from the records of its report.

Names of limits, metrics and columns are anybody's: they are never read as mathematical text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from automl_admm.api.axes import (
    BEST,
    FAINT,
    OUTSIDE,
    WITHIN,
    add_legend,
    axes_of,
    draw_steps,
    label_lines,
    name_axes,
    say_instead,
    scatter,
    shorten_name,
)
from automl_admm.api.history import History
from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.core.limits import Limit
from automl_admm.report.pipeline_text import components_of
from automl_admm.report.sections import convergence, importance, pareto, tried
from automl_admm.report.sections.convergence import Convergence, Point, best_so_far
from automl_admm.report.sections.pareto import Front
from automl_admm.runs.finish.limit_prices import price_limits

MOST_LINES = 30
# Values that span more than this are shown on a logarithmic scale.
WIDE_SPAN = 100.0
CLOCKS = {"evaluation": "number", "time": "seconds"}


def draw_convergence(history: History, ax: Any = None, by: str = "evaluation") -> Any:
    """Draw the score of each evaluation, and the best so far, by evaluation or by time."""
    if by not in CLOCKS:
        raise UnknownNameError("axis", by, list(CLOCKS))
    found = convergence.measure_search(history.search)
    ax = axes_of(ax)
    whole = [one for one in found.points if not one.is_partial]
    for is_within in (True, False):
        some = [one for one in whole if one.is_feasible is is_within]
        scatter(ax, *_across(some, by), is_within=is_within, has_limits=found.has_limits)
    partial = _across([one for one in found.points if one.is_partial], by)
    if partial[0]:
        ax.scatter(*partial, s=6, color=FAINT, label="on fewer rows or folds")
    _draw_incumbents(ax, found, by)
    failed = [getattr(one, CLOCKS[by]) for one in found.points if one.score is None]
    if failed:
        ax.plot(
            failed, [0.02] * len(failed), "x", ms=4, color=FAINT, label="no result",
            transform=ax.get_xaxis_transform(),
        )  # fmt: skip
    name_axes(ax, "evaluation" if by == "evaluation" else "seconds of the run", found.metric)
    add_legend(ax)
    return ax


def _across(points: Iterable[Point], by: str) -> tuple[list[float], list[float]]:
    pairs = [(getattr(one, CLOCKS[by]), one.score) for one in points if one.score is not None]
    return [x for x, _ in pairs], [y for _, y in pairs]


def _draw_incumbents(ax: Any, found: Convergence, by: str) -> None:
    """Draw the lines of the best, which hold to the end."""
    end = max((getattr(one, CLOCKS[by]) for one in found.points), default=0)
    whole = [one for one in found.points if not one.is_partial]
    lines = {"best so far": ([one for one in whole if one.is_feasible], BEST, "-")}
    if found.has_limits:
        lines = {"best of all": (whole, OUTSIDE, ":"), **lines}
    for label, (some, colour, style) in lines.items():
        # With several workers evaluations do not end in the order of their numbers.
        points = best_so_far(zip(*_across(some, by), strict=True), end)
        draw_steps(ax, points, label=label, where="post", color=colour, lw=1.2, ls=style)


def draw_limits(history: History, ax: Any = None) -> Any:
    """Draw how far each evaluation is from each limit, in parts of its bound, a line a limit."""
    limits = _demanded(history)
    ax = axes_of(ax, lines=2 * len(limits))
    found = pareto.measure_search(history.search, history.model)
    lines = [(-place, *pair) for place, pair in enumerate(zip(limits, found.fronts, strict=True))]
    for is_within in (True, False):
        some = [
            (_distance(limit, value), line)
            for line, limit, front in lines
            for value, one in found.against(front)
            if one.is_feasible is is_within
        ]
        scatter(ax, [x for x, _ in some], [y for _, y in some], is_within=is_within)
    values = [(line, limit, front.model_value) for line, limit, front in lines]
    _draw_model(ax, [(_distance(one, v), line) for line, one, v in values if v is not None])
    if max(map(abs, ax.get_xlim())) > WIDE_SPAN:
        ax.set_xscale("symlog", linthresh=1.0)
    ax.axvline(0.0, color=BEST, lw=1, ls="--", label="the bound")
    low, high = ax.get_xlim()
    high = max(high, 0.1)
    ax.axvspan(0.0, high, color=OUTSIDE, alpha=0.08, lw=0)
    ax.set_xlim(low, high)
    label_lines(ax, [line for line, _, _ in lines], _limits_in_words(history))
    ax.set_ylim(0.5 - len(limits), 0.5)
    name_axes(ax, "over the limit, in parts of its bound", "")
    add_legend(ax)
    return ax


def _limits_in_words(history: History) -> list[str]:
    """Name each limit, and say how many evaluations keep it."""
    prices = price_limits(history.search.evaluations, history.search.limits)
    kept = [f"kept by {one.measured - one.broken} of {one.measured}" for one in prices]
    return [
        f"{shorten_name(str(one.limit))}\n{said}" for one, said in zip(prices, kept, strict=True)
    ]


def _distance(limit: Limit, value: float) -> float:
    """Return how far a value is outside a limit, in parts of its bound; within it is negative."""
    return (limit.turned(value) - limit.turned(limit.bound)) / (abs(limit.bound) or 1.0)


def _demanded(history: History) -> tuple[Limit, ...]:
    limits = history.search.limits
    if not limits:
        raise ConfigurationError("the search had no limits to show.", hint="Give it constraints.")
    return limits


def draw_pareto(history: History, limit: str | None = None, ax: Any = None) -> Any:
    """Draw the score over the value of one limit, by default the first, with bound and front."""
    found = pareto.measure_search(history.search, history.model)
    fronts = _fronts_of(history, found.fronts, limit)
    first = fronts[0]
    places = found.against(first)
    ax = axes_of(ax)
    for is_within in (True, False):
        some = [(value, one.score) for value, one in places if one.is_feasible is is_within]
        scatter(ax, [x for x, _ in some], [y for _, y in some], is_within=is_within)
    front = sorted((one.value, one.score) for one in first.front)
    where = "pre" if first.at_least else "post"
    draw_steps(ax, front, label="front", where=where, color=BEST, lw=1)
    if first.model_value is not None and first.model_score is not None:
        _draw_model(ax, [(first.model_value, first.model_score)])
    values = [value for value, _ in places]
    if _is_wide(values, [one.bound for one in fronts]):
        ax.set_xscale("log")
    for one in fronts:
        _shade(ax, one, label="the bound" if one is first else None)
    name_axes(ax, first.name, found.metric)
    add_legend(ax)
    return ax


def _is_wide(values: Sequence[float], bounds: Sequence[float]) -> bool:
    """Return True if values and bounds are positive and the values far apart."""
    if not values or min(*values, *bounds) <= 0:
        return False
    return max(values) > WIDE_SPAN * min(values)


def _fronts_of(history: History, fronts: Sequence[Front], name: str | None) -> list[Front]:
    """Return the fronts of the limits on one value; there may be one on either side."""
    limits = _demanded(history)
    wanted = limits[0].name if name is None else name
    named = next((one.name for one in fronts if wanted in (one.name, one.limit)), None)
    if named is None:
        raise UnknownNameError("limit", wanted, [one.name for one in limits])
    return [one for one in fronts if one.name == named]


def _draw_model(ax: Any, places: Sequence[tuple[float, float]]) -> None:
    if places:
        x, y = zip(*places, strict=True)
        ax.scatter(x, y, s=60, marker="D", facecolors="none", edgecolors=BEST, label="the model")


def _shade(ax: Any, limit: Front, label: str | None) -> None:
    """Mark the bound, and shade what lies outside."""
    ax.axvline(limit.bound, color=BEST, lw=1, ls="--", label=label)
    low, high = ax.get_xlim()
    # All values may lie on one side of the bound.
    low, high = min(low, limit.bound), max(high, limit.bound)
    outside = (low, limit.bound) if limit.at_least else (limit.bound, high)
    ax.axvspan(*outside, color=OUTSIDE, alpha=0.08, lw=0)
    ax.set_xlim(low, high)


def draw_components(history: History, ax: Any = None) -> Any:
    """Draw the scores of the evaluations that used each component, the best component on top."""
    search = history.search
    found = [one for one in tried.measure_search(search).components if one.best is not None]
    names = [one.name for one in reversed(found)]
    scores: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for one in search.ranked:
        for name in dict.fromkeys(components_of(one.text)):
            scores[name].append((search.score(one), one.number in search.feasible))
    ax = axes_of(ax, lines=len(names))
    for is_within in (True, False):
        some = [
            (score, place)
            for place, name in enumerate(names)
            for score, inside in scores[name]
            if inside is is_within
        ]
        x, y = [score for score, _ in some], [place for _, place in some]
        scatter(ax, x, y, is_within=is_within, has_limits=bool(search.limits))
    counted = [f"{shorten_name(one.name)} ({one.evaluations})" for one in reversed(found)]
    label_lines(ax, range(len(names)), counted)
    name_axes(ax, search.metric, "")
    add_legend(ax)
    return ax


def draw_effects(history: History, ax: Any = None) -> Any:
    """Draw the decisions and parameters that mattered, the most important on top.

    If none can be told from chance, the axes say so: that is a finding, and no mistake.
    """
    found = importance.measure_search(history.search)
    shown = found.effects[:MOST_LINES][::-1]
    ax = axes_of(ax, lines=len(shown))
    if not shown:
        say_instead(ax, importance.why_nothing(found))
        return ax
    ax.barh(range(len(shown)), [100 * one.share for one in shown], color=WITHIN)
    label_lines(ax, range(len(shown)), [shorten_name(one.name) for one in shown])
    name_axes(ax, f"% of the variance of {history.search.metric}, roughly", "")
    return ax


def draw_importances(frame: Any, metric: str, ax: Any = None) -> Any:
    """Draw the importances of the columns with their spread, the most important on top."""
    shown = frame.head(MOST_LINES).iloc[::-1]
    ax = axes_of(ax, lines=len(shown))
    ax.barh(range(len(shown)), shown["importance"], xerr=shown["std"], color=WITHIN, ecolor="0.3")
    label_lines(ax, range(len(shown)), [shorten_name(name) for name in shown.index])
    ax.axvline(0.0, color=BEST, lw=0.8)
    name_axes(ax, f"loss of {metric} if the column is shuffled", "")
    return ax
