"""The parameters and decisions that mattered: shares of the variance of the score, from the log.

A share is a main effect as in functional ANOVA, estimated without a model of the score: evaluations
are grouped by the value (numbers by quantiles into five groups), and the variance between groups is
corrected for chance (ε², Kelley 1935). An effect that chance alone shows in one of a hundred cases
is left out. Scores enter as ranks, so that one bad outlier decides nothing. The search did not draw
uniformly, so all of it is approximate.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from automl_admm.core.messages import shorten
from automl_admm.core.space import Array
from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, name, tag, together
from automl_admm.report.document.tables import bar, table
from automl_admm.report.pipeline_text import parameters_of
from automl_admm.report.searched import Searched
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView

# With fewer evaluations a difference between groups is an accident.
FEWEST = 12
GROUPS = 5
# The F test of an effect: what chance shows more often than this is not shown.
CHANCE = 0.01
SHOWN = 25
# Below this share of the whole variance nothing is said of a parameter.
LEAST = 0.002


@dataclass(frozen=True, slots=True)
class Effect:
    """One decision or parameter: its share of all variance, and of that among its evaluations.

    `best` is the value, or the range of values, with the best mean rank.
    """

    name: str
    kind: str
    share: float
    share_within: float
    evaluations: int
    best: str
    worst: str


@dataclass(frozen=True, slots=True)
class Importance:
    """The effects, the largest first; `measured` decisions and parameters varied often enough."""

    evaluations: int
    measured: int
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class _Split:
    """A group for each evaluation that has the value, with the words for each group."""

    rows: Any
    groups: Any
    words: tuple[str, ...]


def measure(view: RunView) -> Importance:
    """Measure the effects in a run folder."""
    return measure_search(view.searched)


def measure_search(search: Searched) -> Importance:
    """Measure every decision and every parameter on the evaluations on all rows and folds."""
    ranks = _ranks(np.array([one.loss for one in search.ranked], dtype=float))
    effects = [
        effect
        for kind, columns in _columns(search).items()
        for title, values in columns.items()
        if (effect := _effect(title, kind, values, ranks)) is not None
    ]
    kept = sorted((e for e in effects if e.share >= LEAST), key=lambda e: (-e.share, e.name))
    return Importance(len(search.ranked), len(effects), tuple(kept))


def _ranks(losses: Array) -> Array:
    """Return ranks from the worst loss up; equal losses share the mean of their ranks."""
    _, places, counts = np.unique(-losses, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: Array = ends - (counts - 1) / 2.0
    return means[places]


Values = dict[int, Hashable]


def _columns(search: Searched) -> Mapping[str, dict[str, Values]]:
    """Return the values of decisions and of parameters, by the place of the evaluation."""
    decisions: dict[str, Values] = {}
    parameters: dict[str, Values] = {}
    for row, one in enumerate(search.ranked):
        known = parameters_of(one.text)
        for (component, parameter), value in known.items():
            parameters.setdefault(f"{component}.{parameter}", {})[row] = value
        own = {f"{component}.{parameter}" for component, parameter in known}
        for title, pick in one.candidate.selection:
            # A parameter of words is a decision to the search, and stands among the parameters.
            if ".".join(title.split(".")[-2:]) not in own:
                said = pick if isinstance(pick, str) else " → ".join(pick)
                decisions.setdefault(title, {})[row] = said
    return {"decision": decisions, "parameter": parameters}


def _effect(title: str, kind: str, values: Values, ranks: Array) -> Effect | None:
    split = _split(values)
    if split is None or len(split.words) < 2:
        return None
    scores, count = ranks[split.rows], len(split.words)
    sizes = np.bincount(split.groups, minlength=count)
    means = np.bincount(split.groups, weights=scores, minlength=count) / sizes
    whole = float(((scores - scores.mean()) ** 2).sum())
    between = float((sizes * (means - scores.mean()) ** 2).sum())
    freedom = len(scores) - count
    if whole <= 0 or freedom < 1:
        return None
    noise = (whole - between) / freedom
    ratio = between / (count - 1) / noise if noise > 0 else np.inf
    if special.fdtrc(count - 1, freedom, ratio) > CHANCE:
        return Effect(title, kind, 0.0, 0.0, 0, "", "")
    share = max(between - (count - 1) * noise, 0.0) / whole
    part = whole / float(((ranks - ranks.mean()) ** 2).sum())
    return Effect(
        name=title,
        kind=kind,
        share=share * part,
        share_within=share,
        evaluations=len(scores),
        best=split.words[int(means.argmax())],
        worst=split.words[int(means.argmin())],
    )


def _split(values: Values) -> _Split | None:
    """Divide the evaluations into groups; None if they are too few."""
    if len(values) < FEWEST:
        return None
    rows, known = np.array(list(values)), list(values.values())
    if all(isinstance(one, int | float) and not isinstance(one, bool) for one in known):
        figures = np.array(known, dtype=float)
        if len(np.unique(figures)) > GROUPS:
            return _by_quantiles(rows, figures)
    texts = [_said(one) for one in known]
    words = tuple(sorted(set(texts)))
    places = {word: place for place, word in enumerate(words)}
    return _Split(rows, np.array([places[text] for text in texts]), words)


def _by_quantiles(rows: Any, figures: Array) -> _Split:
    inner = np.quantile(figures, np.arange(1, GROUPS) / GROUPS)
    places = np.searchsorted(np.unique(inner), figures, side="right")
    _, groups = np.unique(places, return_inverse=True)
    return _Split(rows, groups, tuple(_ranges(figures, groups)))


def _ranges(figures: Array, groups: Any) -> Iterator[str]:
    for group in range(int(groups.max()) + 1):
        inside: Sequence[float] = figures[groups == group]
        yield f"{numbers.plain(min(inside), 3)} to {numbers.plain(max(inside), 3)}"


def _said(value: Hashable) -> str:
    return numbers.plain(value) if isinstance(value, float) else shorten(str(value), 80)


def draw(found: Importance) -> Markup:
    """Draw the effects as bars."""
    if not found.effects:
        return tag("p", why_nothing(found))
    rows = (
        (
            name(one.name, 120),
            bar(one.share),
            name(one.best, 120),
            name(one.worst, 120),
            numbers.rough_share(one.share),
            numbers.rough_share(one.share_within),
            one.evaluations,
        )
        for one in found.effects[:SHOWN]
    )
    headings = (
        *("Decision or parameter", "", "Best with", "Worst with"),
        *("Of all variance", "Among those that have it", "Evaluations"),
    )
    return together(
        tag(
            "p",
            "Approximate: the share of the variance of the score that each one explains alone, by "
            "the ranks of the scores, corrected for chance. Effects that chance alone would show "
            "in one of a hundred cases are left out, and so are those of several together. The "
            "search looked more often where it was good, which no such number makes up for.",
        ),
        table(headings, rows, text_columns=4),
    )


def why_nothing(found: Importance) -> str:
    """Say why there are no effects to show."""
    if not found.measured:
        return (
            f"Nothing can be said yet: it takes {FEWEST} evaluations on all rows and folds in "
            f"which something differs, and there are {found.evaluations}."
        )
    return f"None of {found.measured} decisions and parameters explains more than chance would."


SECTION = Section("importance", "What mattered", Importance, measure, draw)
