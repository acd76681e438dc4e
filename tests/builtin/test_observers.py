"""The observer `jsonl`, and observers by name as any plugin brings them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from automl_admm import ObserverPlugin, Parameter, SearchSpace, hookimpl, minimize
from automl_admm.core.errors import AutomlAdmmError
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.blackbox import run_black_box
from automl_admm.runs.config import RunConfig

SPACE = SearchSpace(parameters=(Parameter("x", 0.0, 1.0),))
FEW: dict[str, Any] = {"max_evaluations": 3, "random_state": 0, "theta_solver": "random"}


def weigh(values: dict[str, Any]) -> dict[str, float]:
    weight = math.inf if values["x"] > 0.9 else values["x"]
    return {"loss": values["x"], "weight": weight}


def test_every_event_is_a_line_of_json(tmp_path: Path) -> None:
    requests = [f"jsonl:path={tmp_path / 'log.jsonl'}"]
    found = minimize(weigh, SPACE, constraints=["weight <= 3"], observers=requests, **FEW)
    lines = (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["event"] for event in events] == [
        "run_started",
        *["evaluation_finished"] * 3,
        "run_finished",
    ]
    assert events[0]["limits"] == ["weight <= 3"]
    assert [event["number"] for event in events[1:-1]] == [1, 2, 3]
    assert all(set(event["limits"]) == {"weight"} for event in events[1:-1])
    assert events[-1]["score"] == found.loss


def test_a_second_run_appends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        minimize(weigh, SPACE, observers="jsonl", **FEW | {"max_evaluations": 1})
    lines = (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 6


@pytest.mark.parametrize(
    ("observers", "says"),
    [
        (["jsonl:path=no/such/folder/log.jsonl"], "cannot be written: No such file"),
        (["jsonl:paht=log"], "'jsonl' has no option 'paht'. Did you mean 'path'"),
        (["json"], "no observer named 'json'"),
        ([3], "must be a text such as 'jsonl:path=log.jsonl', not 3. Objects go into callbacks"),
        (3, "observers must be a list, not 3"),
    ],
)
def test_a_mistake_is_told_before_the_search(
    observers: Any, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    called: list[Any] = []
    with pytest.raises(AutomlAdmmError, match=says):
        minimize(lambda values: called.append(values) or 0.0, SPACE, observers=observers, **FEW)
    assert called == []


@dataclass(frozen=True)
class BellOptions:
    times: int = 1


class Bells:
    """A plugin with an observer that notes in a list what it is told."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    @hookimpl
    def observers(self) -> Iterable[ObserverPlugin]:
        yield ObserverPlugin(name="bell", summary="s", factory=self.make, options=BellOptions)

    def make(self, options: BellOptions) -> object:
        heard = self.heard

        class Bell:
            def run_finished(self) -> None:
                heard.extend(["ring"] * options.times)

        return Bell()


def test_an_observer_of_a_plugin_hears_of_the_runs_that_ask_for_it() -> None:
    bells = Bells()
    for observers in ((), ("bell:times=2",)):
        config = RunConfig(
            max_evaluations=1,
            executor="inline",
            observers=observers,
            extra_plugins={"bells": bells},
        )
        run_black_box(config, lambda values: values["x"], SPACE, (), {})
    assert bells.heard == ["ring", "ring"]


def test_it_comes_in_by_the_door_of_all_plugins() -> None:
    plugins = load_plugins()
    assert plugins.observers.provider("jsonl").startswith("automl-admm ")
