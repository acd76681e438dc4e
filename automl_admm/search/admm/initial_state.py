"""Where the outer loop begins."""

from __future__ import annotations

import numpy as np

from automl_admm.core.problem import AdmmState
from automl_admm.core.ranking import rank
from automl_admm.core.space import Array, Candidate
from automl_admm.search.admm import projection
from automl_admm.search.protocol import SearchProblem


def initial_state(problem: SearchProblem, start: Candidate, rho: float) -> AdmmState:
    """A starting point, every other parameter at its latest value or default, λ = 0, μ = 0."""
    theta = latest_theta(problem)
    selection = start.selection
    theta[list(problem.space.active(selection))] = start.theta
    none = np.zeros(len(problem.limits))
    return AdmmState(
        iteration=0,
        selection=selection,
        theta=theta,
        delta=projection.nearest_integers(problem.space.parameters, theta, 0 * theta, 1.0),
        dual=np.zeros_like(theta),
        constraint_duals=none,
        slack=none,
        residuals=none,
        rho=rho,
        integer_rho=rho,
    )


def latest_theta(problem: SearchProblem) -> Array:
    """θ with every component as it was in the best of the known evaluations that had it."""
    theta = problem.space.default_theta()
    for evaluation in reversed(rank(problem.known, problem.limits)):
        candidate = evaluation.candidate
        theta[list(problem.space.active(candidate.selection))] = candidate.theta
    return theta
