from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from automl_admm.core.errors import ConfigurationError
from automl_admm.runs.config import RunConfig, count_workers
from automl_admm.runs.validation import folder_of, observers_of, seed_of, several


class Watching:
    def evaluation_finished(self) -> None:
        pass


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"theta_solver": object()}, r"theta_solver must be a text such as 'gp', not <object"),
        ({"z_solver": None}, "z_solver must be a text such as 'bo', not None. Or give an object"),
        ({"strategy": 3}, "strategy must be a text such as 'admm', not 3"),
        ({"executor": 3}, "executor must be a text such as 'local', not 3"),
        ({"grammar": 5}, "grammar must be a text or a path, not 5"),
        ({"starts": (3,)}, "a start must be a text or a path, not 3"),
        ({"time_budget": "10m"}, "the budget must be a number of seconds, not '10m'"),
        ({"time_budget": True}, "the budget must be a number of seconds, not True"),
        ({"eval_time_limit": "3s"}, "must be a number of seconds, not '3s'"),
        ({"memory_limit": "2GB"}, "the memory limit must be a number of bytes, not '2GB'"),
        ({"memory_limit": 1000}, "the memory limit of 1000 bytes is too little for any evaluation"),
        ({"memory_limit": 10**20}, r"limit of 1e\+20 bytes is more than a machine can address"),
        ({"time_budget": float("inf")}, "the budget must be a number of seconds, not inf"),
        ({"max_evaluations": "many"}, "must be a whole number of at least 1, not 'many'"),
        ({"max_evaluations": float("inf")}, "must be a whole number of at least 1, not inf"),
        ({"min_fidelity": "half"}, "the least fidelity must be a number, not 'half'"),
        ({"certify": "yes"}, "the confidence of a certificate must be a number, not 'yes'"),
        ({"random_state": "a"}, "the seed must be a whole number of at least 0, not 'a'"),
    ],
)
def test_a_setting_of_a_wrong_kind_is_explained(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        RunConfig(**wrong)


def test_numbers_of_numpy_are_numbers() -> None:
    config = RunConfig(
        time_budget=np.float32(3), max_evaluations=np.int64(4), memory_limit=np.int64(10**9)
    )
    assert config.seconds == 3.0
    assert count_workers(np.int64(2)) == 2


@pytest.mark.parametrize("wrong", ["two", 1.5])
def test_jobs_are_a_whole_number(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match="n_jobs must be a whole number, not"):
        count_workers(wrong)


def test_one_text_is_a_list_of_one() -> None:
    assert several("starts", "ridge()") == ("ridge()",)
    assert several("starts", Path("a")) == (Path("a"),)
    assert several("starts", ["a", "b"]) == ("a", "b")
    with pytest.raises(ConfigurationError, match="constraints must be a list, not 3"):
        several("constraints", 3)


@pytest.mark.parametrize("kind", ["generator", "map", "list_iterator"])
def test_an_iterator_is_refused_as_it_can_be_read_once(kind: str) -> None:
    texts = ["recall >= 0.9"]
    made = {"generator": (one for one in texts), "map": map(str, texts)}
    with pytest.raises(ConfigurationError, match=rf"not an iterator \({kind}\)") as told:
        several("constraints", made.get(kind, iter(texts)))
    assert str(told.value).endswith("Give a list of it: constraints=list(…).")
    assert several("constraints", dict.fromkeys(texts)) == tuple(texts)


def test_a_callback_that_would_never_be_called_is_refused() -> None:
    watching = Watching()
    assert observers_of([watching]) == (watching,)
    with pytest.raises(ConfigurationError, match="callbacks must be a list"):
        observers_of(watching)
    with pytest.raises(ConfigurationError, match="3 has no method of an observer"):
        observers_of([3])
    with pytest.raises(ConfigurationError, match=r"Watching is a class. Give .* Watching\(\)"):
        observers_of([Watching])


def test_a_folder_is_a_path_or_none() -> None:
    assert folder_of(None) is None
    assert folder_of("a") == Path("a")
    with pytest.raises(ConfigurationError, match="work_dir must be a text or a path, not 3"):
        folder_of(3)


def test_seeds_are_what_they_are_in_scikit_learn() -> None:
    assert seed_of(7) == seed_of(np.int64(7)) == 7
    assert seed_of(np.random.RandomState(3)) == seed_of(np.random.RandomState(3))
    with pytest.raises(ConfigurationError, match=r"random_state must be .*, not 'abc'"):
        seed_of("abc")
