from __future__ import annotations

import logging
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest

from automl_admm import hookimpl
from automl_admm.core.errors import PluginError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Selection
from automl_admm.plugins.loading import OURS, Plugins, PluginSource, discover, load_plugins
from automl_admm.plugins.observers import Hurry, Observers
from automl_admm.plugins.records import (
    CommandPlugin,
    ConstraintPlugin,
    MetricPlugin,
    NoOptions,
    ThetaSolverPlugin,
)


class Provider:
    """A plugin with constraints of these names."""

    def __init__(self, *names: str) -> None:
        self._names = names

    @hookimpl
    def constraints(self) -> list[ConstraintPlugin]:
        return [
            ConstraintPlugin(name=name, summary="one", function=lambda evaluated: 1.0)
            for name in self._names
        ]


class Measuring:
    """A plugin with a metric named like one of scikit-learn."""

    @hookimpl
    def metrics(self) -> list[MetricPlugin]:
        return [MetricPlugin(name="roc_auc", summary="one", factory=lambda: None)]


class Misspelt:
    @hookimpl
    def constraint(self) -> list:
        return []


class WrongRecord:
    @hookimpl
    def theta_solvers(self) -> list:
        return ["gp"]


class Raising:
    @hookimpl
    def theta_solvers(self) -> list:
        raise RuntimeError("no licence")


def source(name: str, load: Callable[[], object]) -> PluginSource:
    return PluginSource(name, f"{name}-dist 1.0", load)


def missing_module() -> object:
    raise ModuleNotFoundError("No module named 'smac'")


def loaded(*sources: PluginSource) -> Plugins:
    return load_plugins(sources=sources)


def test_what_a_plugin_provides_is_found_by_name() -> None:
    plugins = loaded(source("good", lambda: Provider("steps")))
    assert plugins.constraints.get("steps").summary == "one"
    assert plugins.constraints.provider("steps") == "good-dist 1.0"
    assert plugins.infos[0].state == "active"
    assert plugins.infos[0].provides == {"constraints": ("steps",)}


@pytest.mark.parametrize(
    ("load", "reason"),
    [
        (missing_module, "No module named 'smac'"),
        (Misspelt, "there is no hook 'constraint'. Did you mean 'constraints'"),
        (WrongRecord, "a ThetaSolverPlugin was expected, not 'gp'"),
        (Raising, "no licence"),
    ],
)
def test_a_broken_plugin_is_skipped_named_and_explained(
    load: Callable[[], object], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        plugins = loaded(source("broken", load), source("good", lambda: Provider("steps")))
    assert reason in plugins.infos[0].state
    assert "plugin 'broken' (broken-dist 1.0) was skipped" in caplog.text
    assert plugins.infos[1].state == "active"
    assert "steps" in plugins.constraints


def test_a_reason_of_several_lines_is_told_in_one(caplog: pytest.LogCaptureFixture) -> None:
    def several() -> object:
        raise ImportError("first line\n  second line\n")

    plugins = loaded(source("broken", several))
    assert plugins.infos[0].state == "failed: ImportError: first line second line"
    (record,) = caplog.records
    assert record.getMessage() == (
        "plugin 'broken' (broken-dist 1.0) was skipped: ImportError: first line second line"
    )


def test_what_is_loaded_quietly_is_told_by_nobody(caplog: pytest.LogCaptureFixture) -> None:
    plugins = load_plugins(sources=[source("broken", missing_module)], quietly=True)
    assert plugins.infos[0].state.startswith("failed: ")
    assert not caplog.records


def test_who_uses_a_name_that_two_provide_is_told_of_both(caplog: pytest.LogCaptureFixture) -> None:
    plugins = loaded(
        source("one", lambda: Provider("steps", "nodes")),
        source("two", lambda: Provider("leaves", "steps", "nodes")),
        source("three", lambda: Provider("depth")),
    )
    assert [info.state.partition(":")[0] for info in plugins.infos] == [
        "withheld",
        "failed",
        "active",
    ]
    assert plugins.infos[0].withheld == ("steps", "nodes")
    assert plugins.infos[0].state.startswith(
        "withheld: constraint 'steps' is provided twice: one-dist 1.0, two-dist 1.0."
    )
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "plugin 'two' (two-dist 1.0) was skipped: constraint 'steps' is provided "
        "twice: one-dist 1.0, two-dist 1.0. Uninstall one of them"
    )
    for name in ("steps", "nodes"):
        with pytest.raises(PluginError, match=r"one-dist 1\.0, two-dist 1\.0"):
            plugins.constraints.get(name)
    assert "leaves" not in plugins.constraints, "it is skipped as a whole"
    assert plugins.constraints.get("depth").summary == "one"
    assert not plugins.manager.has_plugin("two"), "its observers hear nothing"


def test_a_plugin_that_provides_a_name_twice_is_skipped() -> None:
    plugins = loaded(source("one", lambda: Provider("steps", "depth", "steps")))
    assert plugins.infos[0].state == (
        "failed: constraint 'steps' is provided twice: by one-dist 1.0 alone. "
        "Give one of the two another name"
    )
    assert len(plugins.constraints) == 0


def test_two_plugins_of_one_distribution_are_told_apart() -> None:
    sources = [PluginSource(name, "dist 1.0", lambda: Provider("steps")) for name in ("one", "two")]
    assert "is provided twice: dist 1.0 (one), dist 1.0 (two)." in loaded(*sources).infos[1].state


@pytest.mark.parametrize("ours_first", [True, False])
def test_ours_stay_what_they_are_whatever_else_is_installed(ours_first: bool) -> None:
    ours = PluginSource("ours", "automl-admm 1.0", lambda: Provider("steps"), builtin=True)
    theirs = source("theirs", lambda: Provider("steps"))
    plugins = loaded(*((ours, theirs) if ours_first else (theirs, ours)))
    assert [info.name for info in plugins.infos if info.state == "active"] == ["ours"]
    assert plugins.constraints.get("steps").name == "steps"
    assert plugins.constraints.provider("steps") == "automl-admm 1.0"


def test_scikit_learns_metrics_stay_what_they_are() -> None:
    plugins = loaded(source("theirs", Measuring), source("good", lambda: Provider("steps")))
    assert [info.name for info in plugins.infos if info.state == "active"] == ["good"]
    assert plugins.infos[0].state.startswith("failed: metric 'roc_auc' is provided twice: scikit-")
    assert "theirs-dist 1.0" in plugins.infos[0].state
    assert "roc_auc" not in plugins.metrics


@pytest.mark.parametrize(
    "name",
    [
        *("balanced_accuracy", "balanced_accuracy_gap", "min_balanced_accuracy", "roc_auc_ratio"),
        *("recall_gap", "min_recall", "macro_recall", "macro_recall_gap", "rising_breaks_1000"),
    ],
)
def test_limits_of_scikit_learn_and_comparisons_by_ours_stay_what_they_are(name: str) -> None:
    plugins = load_plugins(sources=[*discover(), source("theirs", lambda: Provider(name))])
    (theirs,) = (info for info in plugins.infos if info.name == "theirs")
    assert theirs.state.startswith(f"failed: constraint '{name}' is provided twice: ")
    assert name not in plugins.constraints


@pytest.mark.parametrize(
    "name", ["steps_gap", "max_steps", "min_columns", "macro_roc_auc", "steps_3", "auc_of_mine"]
)
def test_a_name_that_means_nothing_yet_is_free(name: str) -> None:
    plugins = load_plugins(sources=[*discover(), source("theirs", lambda: Provider(name))])
    assert plugins.constraints.provider(name) == "theirs-dist 1.0"


def test_a_metric_may_be_named_like_a_limit() -> None:
    class Gap:
        @hookimpl
        def metrics(self) -> list[MetricPlugin]:
            return [MetricPlugin(name="recall_gap", summary="one", factory=lambda: None)]

    plugins = load_plugins(sources=[*discover(), source("theirs", Gap)])
    assert "recall_gap" in plugins.metrics


def test_a_metric_of_this_process_named_like_scikit_learns_is_told_at_once() -> None:
    with pytest.raises(PluginError, match=r"scikit-learn [\d.]+, this process\. Give yours"):
        load_plugins({"mine": Measuring()}, sources=())


def test_who_doubles_a_name_in_this_process_is_told_at_once() -> None:
    ours = PluginSource("ours", "automl-admm 1.0", lambda: Provider("steps"), builtin=True)
    with pytest.raises(PluginError, match=r"automl-admm 1\.0, this process"):
        load_plugins({"mine": Provider("steps")}, sources=[ours])
    with pytest.raises(PluginError, match=r"this process \(one\), this process \(two\)"):
        load_plugins({"one": Provider("depth"), "two": Provider("depth")}, sources=[ours])


def test_objects_of_this_process_are_plugins_too() -> None:
    plugins = load_plugins({"mine": Provider("steps")}, sources=())
    assert plugins.constraints.provider("steps") == "this process"


def test_builtins_come_through_the_same_door() -> None:
    plugins = load_plugins()
    assert all(info.state == "active" for info in plugins.infos), plugins.infos
    assert {"gp", "random"} <= {record.name for record in plugins.theta_solvers}
    assert {"cmab", "random"} <= {record.name for record in plugins.z_solvers}
    assert {"inline", "local"} <= {record.name for record in plugins.executors}
    assert {"default", "tiny"} <= {record.name for record in plugins.grammars}


def test_each_kind_of_solver_has_a_built_in_stand_in() -> None:
    plugins = load_plugins()
    for registry in (plugins.theta_solvers, plugins.z_solvers):
        assert registry.provider(registry.stand_in().name).partition(" ")[0] == OURS


def test_the_environment_narrows_third_parties_and_names_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AUTOML_ADMM_PLUGINS", "")
    assert all(item.builtin for item in discover())
    monkeypatch.setenv("AUTOML_ADMM_PLUGINS", "builtin-thet")
    with pytest.raises(PluginError, match="Did you mean 'builtin-theta'"):
        discover()


@pytest.mark.parametrize("name", ["", "With Space", "-x", "x-"])
def test_names_that_are_no_names_are_refused(name: str) -> None:
    with pytest.raises(PluginError):
        ThetaSolverPlugin(name=name, summary="s", factory=lambda options: None)


def test_a_record_needs_a_summary_and_options_with_defaults() -> None:
    with pytest.raises(PluginError, match="summary"):
        ThetaSolverPlugin(name="x", summary=" ", factory=lambda options: None)
    with pytest.raises(PluginError, match="dataclass"):
        ThetaSolverPlugin(name="x", summary="s", factory=lambda options: None, options=dict)
    assert ThetaSolverPlugin(name="x", summary="s", factory=lambda o: None).options is NoOptions


def test_a_factory_is_callable_and_a_view_is_one_of_two() -> None:
    with pytest.raises(PluginError, match=r"'x': its factory must be callable, not 'mine:make'\."):
        CommandPlugin(name="x", summary="s", factory="mine:make")
    with pytest.raises(PluginError, match="'one-hot' or 'conditional', not 'onehot'"):
        ThetaSolverPlugin(name="x", summary="s", factory=lambda o: None, joint="onehot")
    with pytest.raises(PluginError, match="needs a summary"):
        ThetaSolverPlugin(name="x", summary="", factory=lambda o: None, joint="conditional")


class Watching:
    def __init__(self) -> None:
        self.seen: list[tuple[int, str]] = []

    @hookimpl
    def evaluation_started(self, number: int, text: str) -> None:
        self.seen.append((number, text))


class Falling:
    def __init__(self, problem: BaseException | None = None) -> None:
        self.problem = problem or RuntimeError("oops\noops")
        self.calls = 0

    @hookimpl
    def evaluation_started(self) -> None:
        self.calls += 1
        raise self.problem


def test_an_observer_that_raises_is_dropped_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    watching, falling, leaving = Watching(), Falling(), Falling(SystemExit("bye"))
    given = {"falling": falling, "leaving": leaving, "watching": watching}
    given["halting"] = Falling(CancelledError("late"))
    plugins = load_plugins(given, sources=())
    observers = Observers(plugins.manager)
    caplog.set_level(logging.DEBUG, logger="automl_admm")
    for number in (1, 2):
        observers.tell("evaluation_started", info=None, number=number, text="t")
    assert watching.seen == [(1, "t"), (2, "t")]
    assert falling.calls == 1
    assert leaving.calls == 1
    warned = {r.getMessage(): r.exc_info for r in caplog.records if r.levelname == "WARNING"}
    dropped = "failed in evaluation_started and is dropped for this run"
    assert warned == {
        f"observer 'falling' {dropped}: RuntimeError: oops oops": None,
        f"observer 'leaving' {dropped}: SystemExit: bye": None,
        f"observer 'halting' {dropped}: CancelledError: late": None,
    }
    traced = [r.exc_info for r in caplog.records if r.levelname == "DEBUG"]
    assert len(traced) == 3
    assert all(traced)


def test_a_plain_object_may_observe_one_run() -> None:
    class Stopper:
        def should_stop(self, evaluations: int) -> bool:
            return evaluations > 3

    observers = Observers(load_plugins(sources=()).manager, (Stopper(),))
    answers = [
        observers.tell("should_stop", info=None, evaluations=n, incumbent=None) for n in (3, 4)
    ]
    assert answers == [[False], [True]]


def test_what_an_observer_changes_is_its_own() -> None:
    class Clearing:
        def evaluation_finished(self, evaluation: Any) -> None:
            evaluation.details["decisions"].clear()
            evaluation.details.clear()
            object.__setattr__(evaluation, "loss", -5.0)

        def should_stop(self, incumbent: Any) -> bool:
            incumbent.details.clear()
            return False

    known = {"threshold": 0.3, "decisions": {"recall": 0.5}}
    candidate = Candidate(Selection(()), ())
    best = Evaluation(1, "key", candidate, Status.SUCCESS, loss=0.2, details=known)
    seen: list[Any] = []

    class Seeing:
        def evaluation_finished(self, evaluation: Any) -> None:
            seen.append(evaluation)

    observers = Observers(load_plugins(sources=()).manager, (Clearing(), Seeing()))
    observers.tell("evaluation_finished", info=None, evaluation=best)
    assert observers.tell("should_stop", info=None, evaluations=1, incumbent=best) == [False]
    assert (best.loss, best.details) == (0.2, {"threshold": 0.3, "decisions": {"recall": 0.5}})
    assert seen == [best]


class Hanging:
    def __init__(self) -> None:
        self.calls: list[str] = []

    def evaluation_started(self) -> None:
        self.calls.append("started")
        threading.Event().wait()

    def should_stop(self) -> bool:
        self.calls.append("asked")
        return True


def test_an_observer_that_hangs_is_named_and_hears_nothing_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hanging, watching = Hanging(), Watching()
    plugins = load_plugins({"watching": watching}, sources=())
    observers = Observers(plugins.manager, (hanging,), Hurry(deadline=time.monotonic() + 2.0))
    begun = time.monotonic()
    for number in (1, 2):
        observers.tell("evaluation_started", info=None, number=number, text="t")
    assert observers.tell("should_stop", info=None, evaluations=2, incumbent=None) == []
    assert time.monotonic() - begun < 60.0
    assert hanging.calls == ["started"]
    assert watching.seen == [(1, "t"), (2, "t")]
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "observer 'Hanging' is dropped for this run: it did not come back from evaluation_started"
    )


def test_an_interrupt_ends_the_wait_for_an_observer() -> None:
    observers = Observers(load_plugins(sources=()).manager, (Hanging(),), Hurry(None, lambda: True))
    begun = time.monotonic()
    observers.tell("evaluation_started", info=None, number=1, text="t")
    assert time.monotonic() - begun < 60.0, "without an interrupt it would be two minutes"


def test_an_interrupt_that_an_observer_raises_is_one() -> None:
    class Leaving:
        def run_started(self) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Observers(load_plugins(sources=()).manager, (Leaving(),)).tell("run_started", info=None)


@pytest.mark.parametrize("ends", [True, False])
def test_no_thread_of_an_observer_stays_behind(ends: bool) -> None:
    before = set(threading.enumerate())
    observers = Observers(load_plugins(sources=()).manager, (Watcher(),))
    observers.tell("run_started", info=None)
    (mine,) = [one for one in threading.enumerate() if one.name == "observer" and one not in before]
    if ends:
        observers.tell("run_finished", info=None, result=None)
    del observers
    mine.join(30)
    assert not mine.is_alive()


class Watcher:
    def run_started(self) -> None: ...


def test_an_observer_sees_the_context_of_its_caller() -> None:
    name: ContextVar[str] = ContextVar("name")
    seen: list[str] = []

    class Reader:
        def run_started(self) -> None:
            seen.append(name.get())

    name.set("mine")
    Observers(load_plugins(sources=()).manager, (Reader(),)).tell("run_started", info=None)
    assert seen == ["mine"]


def test_an_observer_asked_for_by_a_name_is_told_by_it(caplog: pytest.LogCaptureFixture) -> None:
    class Faulty:
        def run_started(self, info: object) -> None:
            raise ValueError("no disk")

    manager = load_plugins(sources=()).manager
    Observers(manager, (Faulty(),), requested=[("log", Faulty())]).tell("run_started", info=None)
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith("observer 'log' failed in run_started")
    assert second.startswith("observer 'Faulty' failed in run_started")
