"""What every executor owes its caller; each test runs on `local` and on `inline`."""

from __future__ import annotations

import math
import os
import threading

import faulty
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automl_admm.builtin import executors as builtin
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evaluations import Status
from automl_admm.core.messages import shorten
from automl_admm.core.protocols import Task
from automl_admm.execution.child.watch import cut_runaway, trim_output
from automl_admm.execution.task_report import (
    TaskReport,
    decode_report,
    describe_exit,
    encode_report,
)
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import ExecutorSetting, NoOptions

NAMES = ("local", "inline")


def build(name, work, scratch=None, workers=1):
    record = {plugin.name: plugin for plugin in builtin.executors()}[name]
    return record.factory(work, ExecutorSetting(workers, None, scratch), NoOptions())


@pytest.fixture(scope="module", params=NAMES)
def executor(request, tmp_path_factory):
    made = build(request.param, faulty.Faulty([0.0]), tmp_path_factory.mktemp("scratch"))
    yield made
    made.close()


def finish(executor, method, number=1, *, seconds=60.0, keep=False, **arguments):
    executor.submit(Task(number, method, arguments, seconds, keep))
    (finished,) = executor.wait(90.0)
    assert finished.number == number
    return finished


def test_both_are_plugins():
    loaded = load_plugins({"these": builtin}, sources=())
    assert [record.name for record in loaded.executors] == ["inline", "local"]


def test_a_result_comes_back(executor):
    finished = finish(executor, "echo", a=1, b=[1.5, None, "ü"])
    assert finished.status is Status.SUCCESS
    assert finished.result["got"] == {"a": 1, "b": [1.5, None, "ü"]}
    assert finished.message == ""
    assert finished.seconds > 0


def test_nan_and_infinity_are_results_and_tuples_become_lists(executor):
    result = finish(executor, "give", what="nan").result
    assert math.isnan(result["loss"])
    assert result["limits"] == [math.inf, -1.5]


@pytest.mark.parametrize("what", ["none", "list", "object", "bytes", "complex", "huge"])
def test_what_is_no_result_is_invalid(executor, what):
    finished = finish(executor, "give", what=what)
    assert finished.status is Status.INVALID
    assert "result" in finished.message


def test_a_result_that_holds_itself_is_invalid(executor):
    assert finish(executor, "give_cycle").status is Status.INVALID


def test_an_invalid_outcome_keeps_its_reason(executor):
    finished = finish(executor, "raise_invalid")
    assert (finished.status, finished.message) == (
        Status.INVALID,
        "the predictions are not all finite",
    )


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("raise_value_error", "ValueError: of no value"),
        ("raise_unspeakable", "UnspeakableError: (its text cannot be had)"),
        ("raise_unpicklable", "UnpicklableError: ab"),
        ("raise_group", "ExceptionGroup: several (2 sub-exceptions)"),
        ("raise_cancelled", "CancelledError: by the loop"),
    ],
)
def test_an_exception_is_an_error_with_its_traceback(executor, method, message):
    finished = finish(executor, method)
    assert (finished.status, finished.message) == (Status.ERROR, message)
    assert f"in {method}" in finished.result["traceback"]


def test_a_long_message_is_cut(executor):
    finished = finish(executor, "raise_long")
    assert finished.message.startswith("ValueError: xxx")
    assert len(finished.message) <= 4_000
    assert len(finished.result["traceback"]) <= 16_000


def test_recursion_without_end_is_an_error(executor):
    finished = finish(executor, "recurse")
    assert finished.status is Status.ERROR
    assert finished.message.startswith("RecursionError")


def test_no_memory_is_memout(executor):
    assert finish(executor, "raise_memory_error").status is Status.MEMOUT


@pytest.mark.parametrize(
    ("code", "message"), [(3, "exit 3"), (None, "exit 0 without a result"), ("why", "exit 1")]
)
def test_leaving_is_a_crash(executor, code, message):
    finished = finish(executor, "sys_exit", code=code)
    assert (finished.status, finished.message) == (Status.CRASHED, message)


@pytest.mark.parametrize("name", NAMES)
def test_the_folder_is_kept_only_for_a_success_that_is_to_be_kept(tmp_path, name):
    executor = build(name, faulty.Faulty(), tmp_path)
    try:
        assert finish(executor, "echo", 1).folder is None
        assert finish(executor, "raise_value_error", 2, keep=True).folder is None
        assert not list(tmp_path.glob("task-*"))
        kept = finish(executor, "echo", 3, keep=True).folder
    finally:
        executor.close()
    assert kept == tmp_path / "task-3"
    assert list(tmp_path.iterdir()) == [kept]
    assert (kept / "written.txt").read_text() == "by the task"


@pytest.mark.parametrize("name", NAMES)
def test_scratch_of_its_own_is_removed(name):
    executor = build(name, faulty.Faulty())
    folder = finish(executor, "echo", keep=True).folder
    assert folder.is_dir()
    executor.close()
    assert not folder.parent.exists()


@pytest.mark.parametrize("name", NAMES)
def test_lambdas_and_local_functions_can_be_works(name):
    class Work:
        def __init__(self, function):
            self.function = function

        def go(self, folder, x):
            del folder
            return {"y": self.function(x)}

    executor = build(name, Work(lambda x: x**2))
    try:
        assert finish(executor, "go", x=7).result == {"y": 49}
    finally:
        executor.close()


def test_waiting_for_nothing_returns_at_once(executor):
    assert list(executor.wait(None)) == []


def test_killing_what_does_not_run_is_no_mistake(executor):
    executor.kill(999)
    assert list(executor.wait(0.0)) == []


def test_a_killed_task_is_cancelled(executor):
    executor.submit(Task(1, "nap", {"seconds": 600}))
    executor.kill(1)
    (finished,) = executor.wait(0.0)
    assert finished.status is Status.CANCELLED
    assert finish(executor, "echo", 2).status is Status.SUCCESS


def test_what_an_interrupt_breaks_off_here_ends_as_cancelled():
    class Work:
        def stop(self, folder):
            raise KeyboardInterrupt

    executor = build("inline", Work())
    executor.submit(Task(1, "stop", {}))
    with pytest.raises(KeyboardInterrupt):
        executor.wait(0.0)
    assert list(executor.wait(0.0)) == []
    executor.kill(1)
    assert [one.status for one in executor.wait(0.0)] == [Status.CANCELLED]
    executor.close()


def test_an_interrupt_loses_no_end_before_it():
    class Work:
        def echo(self, folder):
            return 1

        def stop(self, folder):
            raise KeyboardInterrupt

    executor = build("inline", Work())
    for number, method in enumerate(("echo", "echo", "stop", "echo")):
        executor.submit(Task(number, method, {}))
    executor.kill(0)
    with pytest.raises(KeyboardInterrupt):
        executor.wait(0.0)
    executor.kill(2)
    assert [one.number for one in executor.wait(0.0)] == [0, 1, 2, 3]
    executor.close()


def test_closing_twice_is_no_mistake():
    for name in NAMES:
        executor = build(name, faulty.Faulty())
        executor.close()
        executor.close()


def test_inline_runs_here_and_one_at_a_time():
    executor = build("inline", faulty.Faulty(), workers=4)
    try:
        assert executor.workers == 1
        assert finish(executor, "echo").result["pid"] == os.getpid()
    finally:
        executor.close()


def test_local_needs_posix(monkeypatch):
    monkeypatch.setattr(builtin.os, "name", "nt")
    with pytest.raises(ConfigurationError, match="inline"):
        builtin.build_local(None, ExecutorSetting(), NoOptions())


def test_work_that_cannot_be_pickled_is_a_configuration_error():
    with pytest.raises(ConfigurationError, match=r"cannot be sent to a child process.*lock"):
        build("local", threading.Lock())


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(10, 100))
def test_shortened_text_keeps_head_and_tail(text, limit):
    short = shorten(text, limit)
    assert len(short) <= limit
    assert short == text or (text.startswith(short[:4]) and text.endswith(short[-1]))


@settings(deadline=None)
@given(
    st.sampled_from(Status),
    st.text(),
    st.dictionaries(st.text(), st.one_of(st.none(), st.floats(allow_nan=False), st.text())),
)
def test_a_report_survives_writing(status, message, result):
    report = TaskReport(status, message, result)
    assert decode_report(encode_report(report)) == report


@pytest.mark.parametrize(
    ("code", "text"),
    [(0, "exit 0 without a result"), (3, "exit 3"), (-9, "signal SIGKILL"), (-99, "signal 99")],
)
def test_ends_have_names(code, text):
    assert describe_exit(code) == text


def test_long_output_keeps_head_and_tail(tmp_path):
    output = tmp_path / "output.txt"
    output.write_bytes(b"head" + b"x" * 3_000_000 + b"tail")
    trim_output(output)
    content = output.read_bytes()
    assert content.startswith(b"head")
    assert content.endswith(b"tail")
    assert "2,000,008 bytes left out" in content.decode()
    assert len(content) < 1_000_100


def test_short_output_stays_as_it_is(tmp_path):
    output = tmp_path / "output.txt"
    output.write_bytes(b"short")
    trim_output(output)
    cut_runaway(output)
    assert output.read_bytes() == b"short"


def test_runaway_output_is_cut_while_it_grows(tmp_path):
    output = tmp_path / "output.txt"
    with output.open("ab") as file:
        file.truncate(17_000_000)
        cut_runaway(output)
        file.write(b"later")
    assert output.stat().st_size == 500_005
