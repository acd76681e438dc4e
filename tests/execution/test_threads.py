from __future__ import annotations

import os

import pytest

from automl_admm.execution import threads


def test_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "count_cores", lambda: 8)
    assert [threads.threads_each(workers) for workers in (1, 3, 8, 9)] == [8, 2, 1, 1]


def test_cores_are_those_that_this_process_may_use() -> None:
    assert 1 <= threads.count_cores() <= (os.cpu_count() or 1)


def test_every_library_is_told_its_threads() -> None:
    assert threads.thread_environment(3) == dict.fromkeys(threads.THREAD_VARIABLES, "3")
