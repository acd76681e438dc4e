"""The executor of an engine with workers elsewhere, over ways to workers that never come."""

from __future__ import annotations

import time

import pytest

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.core.protocols import Task
from automl_admm.execution.remote import remote_executor
from automl_admm.execution.remote.remote_executor import RemoteExecutor, Staffing
from automl_admm.execution.remote.transport import Joined, Place
from automl_admm.plugins.contexts import ExecutorSetting


class Silent:
    """A transport to a cluster whose workers, if there are any, never say a word more."""

    cluster, remedy = "the cluster", "Start a worker."

    def __init__(self, *places):
        self.places, self.killed = places, []

    def open(self, brief, scratch, tell):
        self.brief = brief
        for place in self.places:
            tell(Joined(place))

    def submit(self, place, job):
        pass

    def kill(self, place, job):
        self.killed.append(job.number)

    def check(self):
        pass

    def close(self):
        pass


def test_the_first_worker_is_waited_for_until_the_budget_ends(monkeypatch, tmp_path):
    monkeypatch.setattr(remote_executor, "JOIN_SECONDS", 0.1)
    setting = ExecutorSetting(scratch=tmp_path, deadline=time.monotonic() + 0.9)
    begun = time.monotonic()
    with pytest.raises(AutomlAdmmError, match=r"the cluster has had no worker for [01] s"):
        RemoteExecutor({}, setting, Silent(), Staffing(None, patience=60.0))
    assert time.monotonic() - begun < 30


def test_a_worker_at_hand_has_time_to_join_however_short_the_budget(monkeypatch, tmp_path):
    monkeypatch.setattr(remote_executor, "JOIN_SECONDS", 1.0)
    setting = ExecutorSetting(scratch=tmp_path, deadline=time.monotonic() - 5.0)
    with pytest.raises(AutomlAdmmError, match="the cluster has had no worker for 1 s"):
        RemoteExecutor({}, setting, Silent(), Staffing(None, patience=60.0))


def test_a_worker_is_told_what_it_must_have(tmp_path):
    setting = ExecutorSetting(scratch=tmp_path, plugins=("one",), libraries=("two",))
    transport = Silent(Place("one", at_once=1))
    RemoteExecutor({}, setting, transport, Staffing(None)).close()
    assert (transport.brief.plugins, transport.brief.libraries) == (("one",), ("two",))


def test_a_worker_that_stands_still_is_waited_for_once(monkeypatch, tmp_path):
    monkeypatch.setattr(remote_executor, "KILL_SECONDS", 1.0)
    transport = Silent(Place("one", at_once=5))
    setting = ExecutorSetting(scratch=tmp_path)
    executor = RemoteExecutor({}, setting, transport, Staffing(None))
    for number in range(5):
        executor.submit(Task(number, "echo", {}))
    begun = time.monotonic()
    for number in range(5):
        executor.kill(number)
    assert 1.0 <= time.monotonic() - begun < 4.0
    assert transport.killed == [0, 1, 2, 3, 4]
    executor.close()


@pytest.mark.parametrize(
    ("left", "longest", "waited"), [(None, 10.0, 10.0), (100.0, 10.0, 10.0), (-5.0, 10.0, 1.0)]
)
def test_patience_is_what_is_left_of_the_budget(left, longest, waited):
    deadline = None if left is None else time.monotonic() + left
    assert ExecutorSetting(deadline=deadline).patience(longest) == waited
