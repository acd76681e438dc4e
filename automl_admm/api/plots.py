"""Pictures of a search on matplotlib's axes: convergence, limits, components, importances.

Names of limits, metrics and columns are anybody's: they are never read as mathematical text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from automl_admm.api.history import History
from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.progress.visible_text import in_a_line

# Colours that people with any sight tell apart (Okabe and Ito); hollow signs tell it again.
WITHIN, OUTSIDE, BEST, FAINT = "#0072B2", "#D55E00", "#000000", "0.6"
INCHES_A_LINE = 0.28
LONGEST_NAME = 30
MOST_COLUMNS = 30
# Values that span more than this are shown on a logarithmic scale.
WIDE_SPAN = 100.0


def draw_convergence(history: History, ax: Any = None) -> Any:
    """Draw the score of each evaluation, and the best so far, in the order of the search."""
    ax = _axes(ax)
    within = {one.evaluation.number for one in history.standings if one.feasible}
    whole = _whole(history)
    for is_within in (True, False):
        some = [one for one in whole if (one.number in within) is is_within]
        points = [one.number for one in some], [history.score(one) for one in some]
        _scatter(ax, history, *points, is_within=is_within)
    numbers, best = _best_so_far(history, [one for one in whole if one.number in within])
    ax.step(numbers, best, where="post", color=BEST, lw=1.2, label="best so far")
    failed = [one.number for one in history.evaluations if not one.ok]
    if failed:
        ax.plot(
            failed, [0.02] * len(failed), "x", ms=4, color=FAINT, label="no result",
            transform=ax.get_xaxis_transform(),
        )  # fmt: skip
    _name_axes(ax, "evaluation", history.metric)
    _legend(ax)
    return ax


def _best_so_far(history: History, within: Sequence[Evaluation]) -> tuple[list[int], list[float]]:
    numbers: list[int] = []
    best: list[float] = []
    for one in sorted(within, key=lambda one: one.number):
        score = history.score(one)
        if not best or score > best[-1]:
            numbers.append(one.number)
            best.append(score)
    if best:  # the last one holds to the end
        numbers.append(max(one.number for one in history.evaluations))
        best.append(best[-1])
    return numbers, best


def draw_limits(history: History, limit: str | None = None, ax: Any = None) -> Any:
    """Draw the score over the value of one limit, by default the first, with its bound."""
    places = _places_of(history.limits, limit)
    ax = _axes(ax)
    whole = _whole(history)
    values = np.array([one.constraints[places[0]] for one in whole], dtype=float)
    scores = np.array([history.score(one) for one in whole], dtype=float)
    within = {one.evaluation.number for one in history.standings if one.feasible}
    is_within = np.array([one.number in within for one in whole], dtype=bool)
    for truth in (True, False):
        some = is_within == truth
        _scatter(ax, history, values[some], scores[some], is_within=truth)
    finite = values[np.isfinite(values)]
    bounds = [history.limits[place].bound for place in places]
    if len(finite) and min(finite.min(), *bounds) > 0 and finite.max() > WIDE_SPAN * finite.min():
        ax.set_xscale("log")
    for place in places:
        _shade(ax, history.limits[place])
    _name_axes(ax, history.limits[places[0]].name, history.metric)
    _legend(ax)
    return ax


def _places_of(limits: Sequence[Limit], name: str | None) -> list[int]:
    """Return the places of the limits on one value; there may be one on either side."""
    if not limits:
        raise ConfigurationError("the search had no limits to show.", hint="Give it constraints.")
    wanted = limits[0].name if name is None else name
    places = [place for place, one in enumerate(limits) if wanted in (one.name, str(one))]
    if not places:
        raise UnknownNameError("limit", wanted, [one.name for one in limits])
    return [place for place, one in enumerate(limits) if one.name == limits[places[0]].name]


def _shade(ax: Any, limit: Limit) -> None:
    """Mark the bound, and shade what lies outside."""
    ax.axvline(limit.bound, color=BEST, lw=1, ls="--")
    low, high = ax.get_xlim()
    # All values may lie on one side of the bound.
    low, high = min(low, limit.bound), max(high, limit.bound)
    outside = (low, limit.bound) if limit.at_least else (limit.bound, high)
    ax.axvspan(*outside, color=OUTSIDE, alpha=0.08, lw=0)
    ax.set_xlim(low, high)


def draw_components(history: History, ax: Any = None) -> Any:
    """Draw the scores of the evaluations that used each component, the best component on top."""
    by_name: dict[str, list[Evaluation]] = defaultdict(list)
    for one, components in zip(history.evaluations, history.components, strict=True):
        for name in dict.fromkeys(components):
            if one.ok and one.is_whole:
                by_name[name].append(one)
    within = {one.evaluation.number for one in history.standings if one.feasible}

    def best_of(name: str) -> tuple[bool, float]:
        """Return the best of its scores within the limits, or of all if there is none."""
        good = [history.score(one) for one in by_name[name] if one.number in within]
        return bool(good), max(good or [history.score(one) for one in by_name[name]])

    names = sorted(by_name, key=best_of)
    ax = _axes(ax, lines=len(names))
    pairs = [(place, one) for place, name in enumerate(names) for one in by_name[name]]
    for is_within in (True, False):
        some = [pair for pair in pairs if (pair[1].number in within) is is_within]
        points = [history.score(one) for _, one in some], [place for place, _ in some]
        _scatter(ax, history, *points, is_within=is_within)
    counted = [f"{_short(name)} ({len(by_name[name])})" for name in names]
    ax.set_yticks(range(len(names)), counted, parse_math=False)
    _name_axes(ax, history.metric, "")
    _legend(ax)
    return ax


def draw_importances(frame: Any, metric: str, ax: Any = None) -> Any:
    """Draw the importances of the columns with their spread, the most important on top."""
    shown = frame.head(MOST_COLUMNS).iloc[::-1]
    ax = _axes(ax, lines=len(shown))
    ax.barh(range(len(shown)), shown["importance"], xerr=shown["std"], color=WITHIN, ecolor="0.3")
    ax.set_yticks(range(len(shown)), [_short(name) for name in shown.index], parse_math=False)
    ax.axvline(0.0, color=BEST, lw=0.8)
    _name_axes(ax, f"loss of {metric} if the column is shuffled", "")
    return ax


def _whole(history: History) -> list[Evaluation]:
    return [one for one in history.evaluations if one.ok and one.is_whole]


def _axes(ax: Any, lines: int = 0) -> Any:
    """Return the given axes, or new ones, high enough for the lines."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise ConfigurationError(
            "plots need matplotlib, which is not installed.",
            hint="Install it: pip install 'automl-admm[plot]'",
        ) from None
    height = max(4.0, 1.2 + INCHES_A_LINE * lines)
    _, ax = plt.subplots(figsize=(6.4, height), layout="constrained")
    return ax


def _scatter(ax: Any, history: History, x: Any, y: Any, *, is_within: bool) -> None:
    """Draw full dots for pipelines within the limits, hollow ones for others.

    Without limits a pipeline is outside only if it predicts one class for all rows.
    """
    if not len(x):
        return
    colour = WITHIN if is_within else OUTSIDE
    labels = ("outside the limits", "within the limits")
    if not history.limits:
        labels = ("predicts one class", "evaluation")
    label = labels[is_within]
    face = colour if is_within else "none"
    ax.scatter(x, y, s=18, facecolors=face, edgecolors=colour, alpha=0.7, label=label)


def _name_axes(ax: Any, x: str, y: str) -> None:
    ax.set_xlabel(_short(x, 2 * LONGEST_NAME), parse_math=False)
    ax.set_ylabel(_short(y, 2 * LONGEST_NAME), parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)


def _legend(ax: Any) -> None:
    handles, _ = ax.get_legend_handles_labels()
    if handles:
        ax.legend(frameon=False, fontsize="small", loc="best")


def _short(name: object, longest: int = LONGEST_NAME) -> str:
    text = in_a_line(name)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
