"""Calls with a mistake that a type checker finds; an unused `type: ignore` is an error of mypy."""

from __future__ import annotations

from automl_admm import AutoMLClassifier, AutoMLRegressor, SearchSpace, minimize


def misspell_a_parameter() -> object:
    """Name a parameter that is not there."""
    return AutoMLClassifier(time_budgt=60)  # type: ignore[call-arg]


def give_the_budget_by_position() -> object:
    """Give more than the grammar by position."""
    return AutoMLRegressor("tiny", 60)  # type: ignore[call-arg]


def forget_the_space() -> object:
    """Call without a space."""
    return minimize(lambda values: 0.0)  # type: ignore[call-arg]


def misspell_an_argument() -> object:
    """Name an argument that is not there."""
    space = SearchSpace((), ())
    return minimize(lambda values: 0.0, space, constraint=["x <= 1"])  # type: ignore[call-arg]


def give_a_text_for_a_number() -> object:
    """Give a value of the wrong type, which only the run refuses."""
    return AutoMLClassifier(max_evaluations="60")  # type: ignore[arg-type]


MISTAKES = (
    misspell_a_parameter,
    give_the_budget_by_position,
    forget_the_space,
    misspell_an_argument,
)
