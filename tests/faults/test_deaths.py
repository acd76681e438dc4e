"""Evaluations that kill the fork server cost themselves, not the run."""

from __future__ import annotations

import os
import signal
import time

import pytest

from automl_admm import Choice, SearchSpace, minimize
from automl_admm.core.evaluations import Status
from automl_admm.execution import local_executor as local

pytestmark = pytest.mark.timeout(300)


def objective(values):
    """Kill the process above, or be as good as said."""
    if values["what"].startswith("kills"):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    if values["what"] == "naps":
        time.sleep(0.3)
    return {"naps": 0.5, "good": 1.0}[values["what"]]


def search(*names, workers=1, **more):
    space = SearchSpace((Choice("what", names),))
    found = minimize(
        objective,
        space,
        max_evaluations=len(names),
        z_solver="exhaustive",
        executor="local",
        n_jobs=workers,
        random_state=0,
        **more,
    )
    return found, {space.values(row.candidate)["what"]: row for row in found.evaluations}


@pytest.mark.fault(
    "F86",
    injected="two evaluations kill -9 the fork server, twice each, beside healthy ones",
    expected="each is lost by its name, the healthy ones succeed",
)
def test_deaths_of_the_server_cost_those_who_caused_them(seen):
    found, rows = search("kills_1", "good", "kills_2", "naps", workers=2)
    lost = {name for name, row in rows.items() if row.status is Status.LOST}
    seen(f"{len(lost)} lost, {sum(row.ok for row in rows.values())} a success: {found.best}")
    assert lost == {"kills_1", "kills_2"}
    assert all(rows[name].ok for name in ("good", "naps"))
    assert found.best == {"what": "naps"}
    assert "signal SIGKILL (twice" in rows["kills_1"].message


@pytest.mark.fault(
    "F87",
    injected="the fork server is killed whenever it evaluates anything but the first",
    expected="given up, and what is known is the result",
)
def test_where_nothing_can_be_evaluated_any_more_the_best_is_the_result(monkeypatch, seen):
    monkeypatch.setattr(local, "DEATHS_IN_A_ROW", 2)
    found, rows = search("good", "kills_1", "kills_2")
    seen(found.stopped_by)
    assert found.best == {"what": "good"}
    assert found.stopped_by.startswith("the process that evaluates died 3 times in a row; the last")
    assert "kills_" in found.stopped_by
    assert rows["good"].ok


def test_a_plugin_that_wants_to_stop_ends_what_runs():
    class Impatient:
        started = 0

        def evaluation_started(self):
            self.started += 1

        def should_stop(self):
            return self.started == 2

    space = SearchSpace((Choice("seconds", ("none", "many"), values=(0.0, 600.0)),))
    begun = time.monotonic()
    found = minimize(
        lambda values: time.sleep(values["seconds"]) or 1.0 - values["seconds"],
        space,
        max_evaluations=2,
        z_solver="exhaustive",
        executor="local",
        callbacks=[Impatient()],
        random_state=0,
    )
    assert found.stopped_by == "a plugin"
    assert time.monotonic() - begun < 200.0
