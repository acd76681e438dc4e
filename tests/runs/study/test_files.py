"""What `Study.load` changes is kept, and what was left to us is chosen anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from automl_admm import Parameter, SearchSpace, Study
from automl_admm.core.errors import ConfigurationError

PLANE = SearchSpace((), (Parameter("x", 0.0, 1.0), Parameter("y", 0.0, 1.0)))


def weigh(values: dict[str, Any]) -> dict[str, float]:
    return {"loss": values["x"], "w": 10 * values["y"]}


def begun(folder: Path, **given: Any) -> Path:
    with Study(PLANE, work_dir=folder, **{"random_state": 0, **given}) as one:
        trial = one.ask()
        assert trial is not None
        one.tell(trial, {name: weigh(trial.values)[name] for name in ("loss", *_names(given))})
    return folder


def _names(given: dict[str, Any]) -> list[str]:
    return ["w"] if "constraints" in given else []


def settings(one: Study) -> tuple[Any, ...]:
    config = one._box.config
    return one._box.problem.limits, config.max_evaluations, config.random_state


def test_changes_are_kept_in_the_folder_and_in_a_copy(tmp_path: Path) -> None:
    place = begun(tmp_path / "s", constraints=["w <= 1"], max_evaluations=5)
    changes: dict[str, Any] = {"constraints": ["w <= 8"], "max_evaluations": 3, "random_state": 7}
    with Study.load(place, **changes) as one:
        changed = settings(one)
        for trial in one:
            one.tell(trial, weigh(trial.values))
        best = one.best
        one.save(tmp_path / "copy")
    assert (changed[0][0].bound, *changed[1:]) == (8.0, 3, 7)
    for folder in (place, tmp_path / "copy"):
        with Study.load(folder) as again:
            assert settings(again) == changed
            assert (again.best, again.ended) == (best, "evaluations")


def test_a_change_that_is_refused_is_not_kept(tmp_path: Path) -> None:
    place = begun(tmp_path / "s", constraints=["w <= 1"])
    before = (place / "study.json").read_bytes()
    with pytest.raises(ConfigurationError):
        Study.load(place, constraints=["v <= 1"], max_evaluations=9)
    Study.load(place).close()
    assert (place / "study.json").read_bytes() == before


CHANGES: list[dict[str, Any]] = [{"eval_time_limit": 1}, {"n_jobs": 2}, {"memory_limit": 10**9}]


@pytest.mark.parametrize("changes", CHANGES, ids=lambda one: str(next(iter(one))))
def test_limits_on_calls_bring_child_processes(tmp_path: Path, changes: dict[str, Any]) -> None:
    place = begun(tmp_path / "s")
    with Study.load(place) as one:
        assert one._box.config.executor == "inline"
    with Study.load(place, **changes) as one:
        assert one._box.config.executor == "local"
    with Study.load(place) as one:
        assert one._box.config.executor == "local"


def test_one_named_inline_stays_under_other_limits_on_calls(tmp_path: Path) -> None:
    place = begun(tmp_path / "s", executor="inline")
    with Study.load(place, eval_time_limit=30.0) as one:
        assert one._box.config.executor == "inline"
    with Study.load(place, executor=None, n_jobs=2) as one:
        assert one._box.config.executor == "local"


def test_cheap_functions_given_to_a_load_are_not_asked_of_the_next(tmp_path: Path) -> None:
    place = begun(tmp_path / "s", constraints=["w <= 1"])
    Study.load(place, cheap={"w": lambda values: 0.0}).close()
    Study.load(place).close()


def test_an_executor_of_the_user_stays(tmp_path: Path) -> None:
    place = begun(tmp_path / "s", executor="local")
    with Study.load(place) as one:
        assert one._box.config.executor == "local"
    with Study.load(place, executor="inline", eval_time_limit=1) as one:
        assert one._box.config.executor == "inline"
    with Study.load(place) as one:
        assert one._box.config.executor == "inline"
