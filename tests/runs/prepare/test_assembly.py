"""From names to parts, where a plugin's factory does what none should."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from automl_admm import ObserverPlugin
from automl_admm.core.errors import PluginError, UnknownNameError
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.plugins.records import (
    ExecutorPlugin,
    NoOptions,
    ThetaSolverPlugin,
    ZSolverPlugin,
)
from automl_admm.plugins.specs import hookimpl
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare import assembly
from automl_admm.runs.prepare.assembly import (
    build_executor,
    build_observers,
    check_executor,
    plan_search,
)


@dataclass(frozen=True)
class Raising:
    """Options that cannot be made."""

    size: int = 0

    def __post_init__(self) -> NoReturn:
        raise KeyError("size")


@dataclass
class Provider:
    factory: Callable[..., Any]
    options: type[Any] = NoOptions

    @hookimpl
    def theta_solvers(self) -> Iterator[ThetaSolverPlugin]:
        yield ThetaSolverPlugin(name="bad", summary="s", factory=self.factory, options=self.options)

    @hookimpl
    def z_solvers(self) -> Iterator[ZSolverPlugin]:
        yield ZSolverPlugin(name="bad", summary="s", factory=self.factory, options=self.options)

    @hookimpl
    def executors(self) -> Iterator[ExecutorPlugin]:
        yield ExecutorPlugin(name="bad", summary="s", factory=self.factory, options=self.options)


def provided(factory: Callable[..., Any], options: type[Any] = NoOptions) -> Plugins:
    return load_plugins({"bad": Provider(factory, options)})


def misses(*arguments: object) -> NoReturn:
    raise ModuleNotFoundError("No module named 'rare'")


def leaves(*arguments: object) -> NoReturn:
    raise SystemExit("no licence")


FACTORIES = [
    pytest.param(misses, "ModuleNotFoundError: No module named 'rare'.", id="misses"),
    pytest.param(leaves, "SystemExit: no licence.", id="leaves"),
]


@pytest.mark.parametrize(("factory", "says"), FACTORIES)
@pytest.mark.parametrize("kind", ["theta", "z"])
def test_a_solver_that_cannot_be_made_is_named(kind: str, factory: Any, says: str) -> None:
    with pytest.raises(PluginError) as error:
        plan_search(RunConfig(**{f"{kind}_solver": "bad"}), provided(factory))
    assert str(error.value) == f"{kind} solver 'bad' (this process) cannot be made: {says}"


@pytest.mark.parametrize(
    ("factory", "says"),
    [
        *FACTORIES,
        pytest.param(lambda *_: None, "its factory returned None, no executor.", id="none"),
    ],
)
def test_an_executor_that_cannot_be_made_is_named(factory: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError) as error:
        build_executor(RunConfig(executor="bad"), provided(factory), None, tmp_path)
    assert str(error.value) == f"executor 'bad' (this process) cannot be made: {says}"


def test_an_observer_that_would_never_be_called_is_named() -> None:
    class Misspelt:
        def evaluation_finnished(self, info: object, evaluation: object) -> None: ...

    class Observing:
        @hookimpl
        def observers(self) -> Iterator[ObserverPlugin]:
            yield ObserverPlugin(name="typo", summary="s", factory=lambda options: Misspelt())

    plugins, config = load_plugins({"mine": Observing()}), RunConfig(observers=("typo",))
    with pytest.raises(
        PluginError, match=r"observer 'typo' .* has no method of an observer"
    ) as told:
        build_observers(config, plugins)
    assert "evaluation_finished" in str(told.value)


def test_options_that_cannot_be_made_are_named(caplog: pytest.LogCaptureFixture) -> None:
    plugins = provided(lambda *_: None, Raising)
    assert "'bad' (this process) was skipped: options of 'bad': KeyError" in caplog.text
    for setting in ({"theta_solver": "bad"}, {"z_solver": "bad"}):
        with pytest.raises(UnknownNameError, match="solver named 'bad'"):
            plan_search(RunConfig(**setting), plugins)
    with pytest.raises(UnknownNameError, match="no executor named 'bad'"):
        check_executor(RunConfig(executor="bad"), plugins)


def test_a_factory_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    was_stopped = threading.Event()

    def hangs(options: object) -> None:
        try:
            while True:
                time.sleep(0.001)
        finally:
            was_stopped.set()

    monkeypatch.setattr(assembly, "SHORT_CALL", 0.2)
    config = RunConfig(theta_solver="bad", time_budget=0.1)
    with pytest.raises(PluginError) as error:
        plan_search(config, provided(hangs))
    assert str(error.value) == (
        "theta solver 'bad' (this process) cannot be made: its factory did not come back "
        "within 0.2 s."
    )
    assert was_stopped.wait(60), "its thread goes on"
