"""Priors of the solvers on a table left out, without any search: the pipelines they would try.

    python -m benchmarks.portfolio.replay TABLES

Alternatives: the pipelines of `portfolio.json` on a table, ordered by the score that `bo` gives
their alternatives, learned from the other tables of the task; the mean regret after so many of
them, from the first one on, and after the portfolio, as in a search. Settings: the mean regret of
the setting that was the best of its component most often elsewhere, beside the mean of all settings
of it, over the components and tables. TABLES has a table with categories for each task.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from automl_admm.builtin.z.lessons import Lessons
from automl_admm.core.priors import Priors
from automl_admm.core.space import Array, Candidate, SearchSpace
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.grammar.text.matcher import find_derived
from automl_admm.runs.prepare.portfolio import PATH, Experience
from automl_admm.runs.prepare.priors import learn_priors

from .__main__ import SHUFFLES, without
from .candidates import FIRST
from .runs import prepared_on

WITH_CATEGORIES = {
    "binary": "levels_2",
    "multiclass": "levels_5",
    "regression": "levels_of_numbers",
}
AFTER = (1, 2, 4, 8, 12)
FIRST_TRIED = 12


def scores(priors: Priors, space: SearchSpace, found: Mapping[int, Candidate]) -> Array:
    """Return the score of the alternatives of each pipeline."""
    lessons = Lessons.of(space, priors.arms, 1.0)
    return np.array([lessons.score(candidate.selection) for candidate in found.values()])


def chosen_settings(
    priors: Priors, space: SearchSpace, found: Mapping[int, Candidate], regrets: Array
) -> list[tuple[float, float]]:
    """Return for each component the regret of its likeliest setting, and the mean of all."""
    values = {row: _places(space, candidate) for row, candidate in found.items()}
    pairs = []
    for settings in priors.settings.values():
        wanted = settings[0].places
        rows = [row for row, places in values.items() if wanted.keys() <= places.keys()]
        own = [row for row in rows if all(values[row][n] == x for n, x in wanted.items())]
        if own and len(own) < len(rows):
            pairs.append((float(np.mean(regrets[own])), float(np.mean(regrets[rows]))))
    return pairs


def _places(space: SearchSpace, candidate: Candidate) -> dict[str, float]:
    active = space.active(candidate.selection)
    return {space.parameters[i].name: x for i, x in zip(active, candidate.theta, strict=True)}


def regrets_after(regrets: Array, order: Sequence[int], begun: Sequence[int]) -> Array:
    """Return the least regret after those begun and so many more."""
    reached = np.minimum.accumulate(regrets[[*begun, *order]])
    return np.array([reached[min(len(begun) + n, len(reached)) - 1] for n in AFTER])


def replay(
    known: Experience, pipelines: PipelineSpace
) -> tuple[dict[str, Array], list[tuple[float, float]]]:
    """Return the mean regrets by the way to order pipelines, and those of chosen settings."""
    derived, space = find_derived(known.texts, pipelines), pipelines.space
    read, settings = dict[str, list[Array]](), list[tuple[float, float]]()
    for place, facts in enumerate(known.tables):
        rest, regret = without(known, place), known.regrets[:, place]
        weights = rest.weights(facts)
        seen = np.asarray(np.isfinite(rest.regrets).any(axis=1))
        here = {row: one for row, one in derived.items() if np.isfinite(regret[row]) and seen[row]}
        priors = learn_priors(rest.regrets, weights, here, space)
        settings += chosen_settings(priors, space, here, regret)
        ranked = np.array(list(here))[np.argsort(-scores(priors, space, here), kind="stable")]
        first = [row for row in here if known.texts[row] in FIRST]
        tried = [*first, *rest.order(weights, list(here), first, FIRST_TRIED)]
        for name, begun in (("from the first", first), ("after the portfolio", tried)):
            left = [int(row) for row in ranked if row not in begun]
            read.setdefault(f"{name}: priors", []).append(regrets_after(regret, left, begun))
            random = np.random.default_rng(0)
            orders = [list(map(int, random.permutation(left))) for _ in range(SHUFFLES)]
            drawn = np.mean([regrets_after(regret, one, begun) for one in orders], axis=0)
            read.setdefault(f"{name}: random order", []).append(drawn)
    return {way: np.mean(values, axis=0) for way, values in read.items()}, settings


def main() -> None:
    """Print the regrets of each task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=Path)
    given = parser.parse_args()
    content = json.loads(PATH.read_text("utf-8"))
    warnings.simplefilter("ignore", RuntimeWarning)  # means of pipelines that few tables have
    for task, part in content["tasks"].items():
        prepared = prepared_on(given.tables / f"{WITH_CATEGORIES[task]}.csv")
        known = Experience.from_json(part)
        heads = "".join(f"{f'+{n}':>7}" for n in AFTER)
        sys.stdout.write(f"{task}: {len(known.tables)} tables\n{'':32}{heads}\n")
        ordered, settings = replay(known, prepared.grammar.pipelines)
        for way, values in ordered.items():
            sys.stdout.write(f"{way:32}{''.join(f'{value:7.3f}' for value in values)}\n")
        chosen, usual = np.mean(settings, axis=0)
        wins = sum(a < b for a, b in settings)
        told = f"{chosen:.3f}, all {usual:.3f}, better in {wins} of {len(settings)}"
        sys.stdout.write(f"settings: the likeliest {told}\n")


if __name__ == "__main__":
    main()
