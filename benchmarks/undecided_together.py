"""Choose weights of classes and the share undecided in turn, or both at once.

Both are numbers of a decision among several classes, and a run chooses the weights first. Made
problems have three classes, two limits that the plain decisions break or nearly break, and up to
10 % of the rows undecided. The rival is a grid of both at once: 625 weights, four shares each.

    python benchmarks/undecided_together.py --problems 130
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import constraint_of, with_classes
from automl_admm.core.fold_means import means_over_folds
from automl_admm.pipelines.thresholds.band import PARTS, choose_least_share
from automl_admm.pipelines.thresholds.by_class import (
    Weights,
    choose_class_weights,
    decide_by_weights,
    top_shares,
)
from automl_admm.pipelines.thresholds.single import Aimed, Fold, violation
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.loading import load_plugins

CLASSES, ROWS, MOST = ("a", "b", "c"), 800, 0.1
GRID = 2.0 ** np.linspace(-3.0, 3.0, 25)


def rows_of(seed: int) -> EvaluatedPipeline:
    """Return rows with classes of unequal size, and probabilities that know a part of them."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, ROWS, p=rng.dirichlet([4, 3, 2]))
    probable = rng.dirichlet(rng.uniform(1, 6, 3), ROWS) + rng.uniform(0.2, 0.8) * np.eye(3)[y]
    probable /= probable.sum(axis=1, keepdims=True)
    return EvaluatedPipeline(None, None, y, probable, 0.0, 0.0, probable.argmax(axis=1))


def limits_of(rows: EvaluatedPipeline, seed: int) -> list[Aimed]:
    """Return limits somewhat beyond what the plain decisions reach."""
    rng, plain = np.random.default_rng([seed, 1]), np.asarray(rows.decisions)
    one, other = rng.choice(3, 2, replace=False)
    second = (
        ("precision", other, rows.y[plain == other] == other),
        ("recall", other, plain[rows.y == other] == other),
        ("accuracy", None, plain == rows.y),
    )[rng.integers(3)]
    asked = (("recall", one, plain[rows.y == one] == one), second)
    texts = [_beyond(name, place, hits, rng) for name, place, hits in asked]
    texts.append(f"abstain <= {MOST}")
    known = load_plugins().constraints
    found = [with_classes(constraint_of(read_text(text), known), CLASSES) for text in texts]
    return [Aimed(constraint, constraint.limit) for constraint in found]


def _beyond(name: str, place: int | None, hits: np.ndarray, rng: np.random.Generator) -> str:
    reached = float(hits.mean()) if len(hits) else 0.5
    of_class = "" if place is None else f"{{class={CLASSES[place]}}}"
    return f"{name}{of_class} >= {min(reached + rng.uniform(0.0, 0.15), 0.99):.3f}"


def holds(rows: EvaluatedPipeline, limits: Sequence[Aimed], weights: Weights, least: float) -> bool:
    """Return True if the decisions with these numbers are within all limits."""
    decided = decide_by_weights(rows.predictions, weights, None, least)
    return violation(limits, means_over_folds([Fold.of(rows, limits).evidence(decided)])) == 0.0


def in_turn(rows: EvaluatedPipeline, limits: Sequence[Aimed]) -> bool:
    """Return True if a run's own choice holds: weights first, then the share."""
    weights = choose_class_weights([rows], limits) or (1.0,) * 3
    least = choose_least_share([rows], limits, weights, MOST)
    return holds(rows, limits, weights, least)


def at_once(rows: EvaluatedPipeline, limits: Sequence[Aimed]) -> bool:
    """Return True if any setting of the grid holds."""
    return any(holds(rows, limits, weights, least) for weights, least in _grid(rows))


def _grid(rows: EvaluatedPipeline) -> Iterator[tuple[Weights, float]]:
    for second, third in product(GRID, GRID):
        weights = (1.0, float(second), float(third))
        ordered = np.sort(top_shares(rows.predictions, weights))
        for part in PARTS:
            yield weights, float(ordered[int(part * MOST * ROWS)])


def main() -> None:
    """Print how often each finds decisions within the limits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=130)
    parser.add_argument("--first", type=int, default=1000, help="the seed of the first")
    given = parser.parse_args()
    turn, both = 0, 0
    for seed in range(given.first, given.first + given.problems):
        rows = rows_of(seed)
        limits = limits_of(rows, seed)
        found = in_turn(rows, limits)
        turn += found
        # What one way finds is possible; the grid is asked for the others alone.
        both += found or at_once(rows, limits)
    print(f"problems {given.problems}; within the limits: in turn {turn}, by either way {both}")


if __name__ == "__main__":
    main()
