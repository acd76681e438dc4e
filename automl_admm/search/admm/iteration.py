"""The inputs of one outer iteration, and what they say about the evaluations made so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.space import Array, Candidate
from automl_admm.search.admm.excursions import Excursion, Tunings
from automl_admm.search.admm.pricing import Scales, SelectionSubspace, prices_of
from automl_admm.search.admm.settings import AdmmSettings
from automl_admm.search.protocol import Book, SearchProblem


@dataclass
class Iteration:
    """The inputs of one outer iteration: records that do not change, and the logs.

    `away` is the present excursion of θ-min, if there is one (see `Tunings`).
    """

    problem: SearchProblem
    settings: AdmmSettings
    book: Book
    tunings: Tunings
    scales: Scales
    integers: Array
    project: Callable[[Candidate], Candidate]
    away: Excursion | None


def selections(work: Iteration, state: AdmmState) -> SelectionSubspace:
    """Return the space of z-min: all selections at the present parameters and prices."""
    prices = prices_of(state, work.problem.limits, work.scales)
    return SelectionSubspace(work.problem.space, state.theta, prices, work.project)


def inside(evaluations: Sequence[Evaluation], subspace: SelectionSubspace) -> list[Evaluation]:
    """Return the successes in the space of a z-min."""
    return [e for e in evaluations if e.ok and is_inside(e, subspace)]


def is_inside(evaluation: Evaluation, subspace: SelectionSubspace) -> bool:
    """Return True if an evaluation has the parameters of a z-min."""
    return subspace.locate(evaluation.candidate) is not None


def gap(one: Array, other: Array) -> float:
    """Return the distance of two points."""
    return float(np.linalg.norm(one - other))
