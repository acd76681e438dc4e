"""The first state of the outer loop."""

from __future__ import annotations

import numpy as np

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.ranking import rank
from automl_admm.core.space import Array, Candidate
from automl_admm.search.admm import projection
from automl_admm.search.protocol import SearchProblem


def initial_state(problem: SearchProblem, start: Candidate, rho: float) -> AdmmState:
    """Return a starting point, other parameters at their latest value or default, λ = 0, μ = 0."""
    theta = latest_theta(problem)
    selection = start.selection
    theta[list(problem.space.active(selection))] = start.theta
    none = np.zeros(len(problem.limits))
    return AdmmState(
        iteration=0,
        selection=selection,
        theta=theta,
        # λ = 0, so ρ does not matter: δ is the nearest grid point of θ.
        delta=projection.nearest_integers(problem.space.parameters, theta, 0 * theta, 1.0),
        dual=np.zeros_like(theta),
        constraint_duals=none,
        slack=none,
        residuals=none,
        rho=rho,
        integer_rho=rho,
    )


def latest_theta(problem: SearchProblem) -> Array:
    """Return θ with every component as in the best known evaluation using it."""
    theta = problem.space.default_theta()
    # From worst to best, so that the best is written last and stays.
    for evaluation in reversed(rank(problem.known, problem.limits)):
        candidate = evaluation.candidate
        theta[list(problem.space.active(candidate.selection))] = candidate.theta
    return theta
