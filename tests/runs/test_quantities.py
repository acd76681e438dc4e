from __future__ import annotations

import pytest
from sklearn.base import clone

from automl_admm import AutoMLClassifier, minimize
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.space import Parameter, SearchSpace
from automl_admm.runs.validation import DURATION, MEMORY, Measure


@pytest.mark.parametrize(
    ("measure", "text", "number"),
    [
        (DURATION, "30s", 30.0),
        (DURATION, " 1.5 H ", 5400.0),
        (DURATION, ".5m", 30.0),
        (DURATION, "90", 90.0),
        (MEMORY, "2GB", 2e9),
        (MEMORY, "500 mb", 5e8),
        (MEMORY, "8000", 8000.0),
    ],
)
def test_a_quantity_is_a_number_with_or_without_a_unit(
    measure: Measure, text: str, number: float
) -> None:
    assert measure.read(text) == number


@pytest.mark.parametrize("text", ["", "s", "1d", "1h30m", "-3s", "1e3", "nan", "inf", "٣٠ days"])
def test_other_texts_are_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no duration\. Write it like 30s, 10m or 1h"):
        DURATION.read(text)


def test_a_number_that_is_too_large_is_told() -> None:
    with pytest.raises(ValueError, match="too large for a duration"):
        DURATION.read("9" * 400 + "h")


def test_texts_in_python_are_read_at_fit_and_kept_as_they_were_given() -> None:
    given = {"time_budget": "10m", "eval_time_limit": "30s", "memory_limit": "2GB"}
    search = clone(AutoMLClassifier(**given))
    assert {name: search.get_params()[name] for name in given} == given
    config = search._config(0.0)
    assert (config.time_budget, config.eval_time_limit) == (600.0, 30.0)
    assert config.memory_limit == 2_000_000_000
    assert isinstance(config.memory_limit, int)
    assert (config.deadline, config.limit_of_one) == (600.0, 30.0)


def test_minimize_reads_the_same_texts() -> None:
    space = SearchSpace(parameters=(Parameter("x", 0, 1),))
    with pytest.raises(
        ConfigurationError, match=r"the budget must be .+ 30s, 10m or 1h, not 'now'"
    ):
        minimize(lambda values: values["x"], space, time_budget="now")
    found = minimize(lambda values: values["x"], space, time_budget="60s", max_evaluations=2)
    assert len(found.evaluations) == 2
