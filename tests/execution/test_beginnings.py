"""A work whose first part is sent before the rest has the results of a work sent as a whole."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from divided import Divided, Torn

from automl_admm.builtin import executors as builtin
from automl_admm.core.errors import AutomlAdmmError, ConfigurationError
from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Task
from automl_admm.plugins.records import ExecutorSetting, NoOptions

ROWS = np.arange(10)
Build = Callable[..., Any]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    made = []

    def make(work: Any, name: str = "local") -> Any:
        record = {plugin.name: plugin for plugin in builtin.executors()}[name]
        made.append(record.factory(work, ExecutorSetting(1, None, tmp_path), NoOptions()))
        return made[-1]

    yield make
    for executor in made:
        executor.close()


def finish(executor: Any, method: str, number: int) -> Any:
    executor.submit(Task(number, method, {}, 60.0))
    (finished,) = executor.wait(90.0)
    assert finished.status is Status.SUCCESS, finished.message
    return finished.result


@pytest.mark.parametrize("name", ["local", "inline"])
def test_each_method_has_the_rows_that_it_needs(build: Build, name: str) -> None:
    executor = build(Divided(ROWS), name)
    orders = ("first", "whole", "first", "whole")
    found = [finish(executor, method, number)["sum"] for number, method in enumerate(orders)]
    assert found == [1, 45, 1, 45]


def test_the_rest_is_written_after_the_first_task_and_removed(build: Build, tmp_path: Path) -> None:
    executor, rest = build(Divided(ROWS)), tmp_path / "rest.pickle"
    finish(executor, "first", 1)
    assert not rest.exists()
    executor.submit(Task(2, "first", {}, 60.0))
    executor.wait(90.0)
    assert rest.exists()
    executor.close()
    assert not list(tmp_path.glob("rest*"))


def test_another_server_gets_the_rest_again(build: Build) -> None:
    executor = build(Divided(ROWS))
    assert finish(executor, "whole", 1)["sum"] == 45
    server = finish(executor, "first", 2)["server"]
    os.kill(server, signal.SIGKILL)
    executor.submit(Task(3, "whole", {}, 60.0))  # perhaps to the dead one
    executor.wait(90.0)
    assert finish(executor, "whole", 4)["sum"] == 45


def test_a_rest_that_does_not_fit_is_an_error_in_words(build: Build) -> None:
    executor = build(Torn(ROWS))
    assert finish(executor, "first", 1)["sum"] == 1
    executor.submit(Task(2, "whole", {}, 60.0))
    with pytest.raises(ConfigurationError, match=r"could not be loaded in a child process.*torn"):
        executor.wait(90.0)


def test_a_rest_that_cannot_be_written_is_named(build: Build, tmp_path: Path) -> None:
    executor = build(Divided(ROWS))
    (tmp_path / "rest.arrays").mkdir()  # in its way
    with pytest.raises(AutomlAdmmError, match=r"rest\.pickle' cannot be written"):
        executor.submit(Task(1, "whole", {}, 60.0))
    (tmp_path / "rest.arrays").rmdir()
    assert finish(executor, "whole", 1)["sum"] == 45
