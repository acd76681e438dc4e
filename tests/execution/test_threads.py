from __future__ import annotations

import os
import sys
from types import ModuleType

import pytest
import sklearn.ensemble  # noqa: F401 - it brings OpenMP
from threadpoolctl import ThreadpoolController, threadpool_limits

from automl_admm.execution import threads


def test_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "count_cores", lambda: 8)
    assert [threads.threads_each(workers) for workers in (1, 3, 8, 9)] == [8, 2, 1, 1]


def test_cores_are_those_that_this_process_may_use() -> None:
    assert 1 <= threads.count_cores() <= (os.cpu_count() or 1)


def test_every_library_is_told_its_threads() -> None:
    assert threads.thread_environment(3) == dict.fromkeys(threads.THREAD_VARIABLES, "3")


@pytest.mark.parametrize(
    ("cells", "cores", "variable", "expected"),
    [
        (1000, 4, None, {1}),
        (threads.SMALL_CELLS, 4, "2", {1}),
        (threads.SMALL_CELLS + 1, 4, None, {2}),
        (1000, 1, None, {2}),  # its libraries have one thread anyway
        (1000, 4, "1", {2}),
    ],
)
def test_small_tables_are_fitted_in_one_thread(
    monkeypatch: pytest.MonkeyPatch,
    cells: int,
    cores: int,
    variable: str | None,
    expected: set[int],
) -> None:
    monkeypatch.setattr(threads, "count_cores", lambda: cores)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if variable is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", variable)
    with threadpool_limits(limits=2):
        with threads.threads_for(cells):
            assert _openmp_threads() == expected
        assert _openmp_threads() == {2}


def test_libraries_are_looked_for_again_after_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    found = threads.thread_pools()
    assert found.info() == ThreadpoolController().info()
    assert threads.thread_pools() is found
    monkeypatch.setitem(sys.modules, "a_library_that_came_later", ModuleType("later"))
    assert threads.thread_pools() is not found


def _openmp_threads() -> set[int]:
    loaded = ThreadpoolController().select(user_api="openmp")
    return {library.num_threads for library in loaded.lib_controllers}
