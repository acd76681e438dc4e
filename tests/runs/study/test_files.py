"""What `Study.load` changes is kept, and what was left to us is chosen anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from automl_admm import Parameter, SearchSpace, Study
from automl_admm.store.json_content import with_digest

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


CHANGES: list[dict[str, Any]] = [{"eval_time_limit": 1}, {"n_jobs": 2}, {"memory_limit": 10**9}]


def _as_before(folder: Path) -> None:
    """Write the executor that was chosen as earlier versions did, as if the user had given it."""
    path = folder / "study.json"
    content = json.loads(path.read_text())
    del content["content_sha256"]
    content["options"]["executor"] = "inline"
    path.write_text(json.dumps(with_digest(content)))


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("changes", CHANGES, ids=lambda one: str(next(iter(one))))
def test_limits_on_calls_bring_child_processes(
    tmp_path: Path, changes: dict[str, Any], *, is_old: bool
) -> None:
    place = begun(tmp_path / "s")
    if is_old:
        _as_before(place)
    with Study.load(place) as one:
        assert one._box.config.executor == "inline"
    with Study.load(place, **changes) as one:
        assert one._box.config.executor == "local"


def test_an_executor_of_the_user_stays(tmp_path: Path) -> None:
    place = begun(tmp_path / "s", executor="local")
    with Study.load(place) as one:
        assert one._box.config.executor == "local"
    with Study.load(place, executor="inline", eval_time_limit=1) as one:
        assert one._box.config.executor == "inline"
