"""Faults of processes: killed, stopped, out of time; what is left ends well."""

from __future__ import annotations

import signal
import time
import warnings
from pathlib import Path

import numpy as np
import psutil
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import FallbackWarning
from automl_admm.core.evaluations import Status

# A run takes seconds, and much longer on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(400)

HEALTHY = ("decision_tree", "gaussian_nb")
ALL_FAIL = ("segfaults", "raises", "exits_3", "predicts_nan", "raises_a_group")
SLACK = 5.0
# How much busier than when its pace was measured the machine may be.
BUSIER = 10


@pytest.mark.fault(
    "F18",
    injected="all components fail, each in its way",
    expected="exit 4 with the commonest causes, tracebacks in the log, < 10 s wasted",
)
def test_all_fail(fit, pace, tmp_path, seen):
    ended = fit(tmp_path, ALL_FAIL, "--budget", "300s", "--max-evaluations", "20")
    assert ended.code == 4
    assert ended.err.startswith("error: none of 5 evaluations succeeded (")
    assert ended.err.count("1 × ") == 3
    assert "Traceback" not in ended.err
    assert "in raises\n" in ended.rows["raises"].details["traceback"]
    assert ended.seconds < 10 + BUSIER * pace
    assert ended.left == []
    seen(f"exit 4 after {ended.seconds:.1f} s of 300: {ended.err.split('. ')[0][7:]}")


@pytest.mark.fault(
    "F21",
    injected="kill -9 of a child that evaluates",
    expected="its row is crashed, the others are not touched",
)
@pytest.mark.fault(
    "F21",
    injected="kill -9 of the solver's child",
    expected="there is none: solvers run in threads of the parent",
)
def test_a_child_is_killed(begin, tmp_path, seen):
    run = begin(tmp_path, ("sleeps", *HEALTHY))
    run.evaluating("sleeps").kill()
    ended = run.end()
    assert ended.code == 0, ended.err
    row = ended.rows["sleeps"]
    assert (row.status, row.message) == (Status.CRASHED, "signal SIGKILL")
    assert all(ended.rows[name].ok for name in HEALTHY)
    assert ended.left == []
    seen(f"exit 0; {row.status}: {row.message}; below the run only what evaluates")


@pytest.mark.fault(
    "F21",
    injected="kill -9 of the fork server",
    expected="started again; what it ran is lost and evaluated once more",
)
def test_the_fork_server_is_killed(begin, tmp_path, seen):
    run = begin(tmp_path, ("naps_0", *HEALTHY))
    server = run.server("naps_0")
    server.kill()
    server.wait(60)
    assert run.server("naps_0").pid != server.pid
    ended = run.end()
    assert ended.code == 0, ended.err
    assert all(row.ok for row in ended.rows.values())
    assert len(ended.rows) == 3
    assert ended.left == []
    seen(f"exit 0; another server; {len(ended.rows)} of 3 rows are a success")


@pytest.mark.fault(
    "F23",
    injected="SIGSTOP of the parent for 3 s, then SIGCONT",
    expected="no false `lost`, the run goes on",
)
def test_the_parent_is_stopped_for_a_while(begin, tmp_path, seen):
    run = begin(tmp_path, ("naps_0", "naps_1", *HEALTHY), "--budget", "300s", "--workers", "1")
    run.evaluating("naps_0")
    run.process.send_signal(signal.SIGSTOP)
    time.sleep(3.0)
    run.process.send_signal(signal.SIGCONT)
    ended = run.end()
    assert ended.code == 0, ended.err
    assert [row.status for row in ended.rows.values()] == [Status.SUCCESS] * 4
    assert ended.seconds > 3.0
    seen(f"exit 0, {len(ended.rows)} rows, all a success")


@pytest.mark.fault(
    "F23",
    injected="SIGSTOP of the fork server, for ever",
    expected="killed and started again, the run ends in time",
)
def test_the_fork_server_is_stopped(begin, pace, tmp_path, seen):
    budget = max(6.0, 3 * pace)
    run = begin(tmp_path, (*HEALTHY, "naps_0"), "--budget", f"{budget}s", "--workers", "1")
    server = run.server("naps_0")
    server.suspend()
    ended = run.end()
    assert ended.code == 0, ended.err
    assert ended.seconds <= budget + 2 * SLACK + BUSIER * pace
    assert ended.left == []
    assert not psutil.pid_exists(server.pid)
    seen(f"exit 0 after {ended.seconds:.0f} s of {budget:.0f}; the stopped server is gone")


@pytest.mark.fault(
    "F23", injected="the clock is set back again and again", expected="the budget holds"
)
def test_the_clock_is_set_back(monkeypatch, seen):
    now = [time.time()]

    def earlier() -> float:
        now[0] -= 3600
        return now[0]

    X = np.random.default_rng(0).normal(size=(80, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    begun = time.monotonic()
    with monkeypatch.context() as patch, warnings.catch_warnings():
        patch.setattr(time, "time", earlier)
        warnings.simplefilter("ignore", FallbackWarning)  # a busy machine evaluates nothing in 3 s
        search = AutoMLClassifier(
            "tiny", time_budget=3.0, executor="inline", on_infeasible="closest", random_state=0
        )
        search.fit(X, y)
    seconds = time.monotonic() - begun
    assert search.stopped_by_ == "budget"
    assert seconds < 100.0  # by that clock it would never be over
    seen(f"stopped by the budget after {seconds:.1f} s of 3")


@pytest.mark.fault("F27", injected="a budget of 0 s", expected="exit 2, what is wrong")
def test_no_budget(fit, tmp_path, seen):
    ended = fit(tmp_path, HEALTHY, "--budget", "0s")
    assert ended.code == 2
    assert "the budget must be more than 0 seconds" in ended.err
    seen(f"exit 2: {ended.err.strip()[7:]}")


@pytest.mark.parametrize(
    "budget",
    [
        pytest.param(
            "1s",
            marks=pytest.mark.fault("F27", injected="a budget of 1 s", expected="a model, in time"),
        ),
        pytest.param(
            "0.05s",
            marks=pytest.mark.fault(
                "F27", injected="a budget shorter than the import", expected="a marked model"
            ),
        ),
    ],
)
def test_hardly_any_budget(fit, pace, tmp_path, budget, seen):
    short = ["--budget", budget, "--max-evaluations", "1000"]
    if budget == "1s":  # the other one has children
        short += ["--executor", "inline"]
    ended = fit(tmp_path, HEALTHY, *short, new_interpreter=True)
    assert ended.code in (0, 4), ended.err
    assert (tmp_path / "out" / "model.skops").is_file()
    assert "Traceback" not in ended.err
    assert ended.seconds < 1.0 + SLACK + BUSIER * pace  # what is imported first takes its time
    assert ended.left == []
    said = ended.err.strip()[7:] or ended.out.splitlines()[0][:40]
    seen(f"exit {ended.code} after {ended.seconds:.1f} s: {said}")


@pytest.mark.fault("F27", injected="one evaluation", expected="exit 0, one row")
def test_one_evaluation(fit, tmp_path, seen):
    ended = fit(tmp_path, ("gaussian_nb",))
    assert ended.code == 0, ended.err
    assert list(ended.rows) == ["gaussian_nb"]
    seen("exit 0, one row, a model")


@pytest.mark.fault(
    "F28",
    injected="one fit takes the whole budget",
    expected="killed at the deadline; what was found before is given",
)
def test_one_fit_takes_it_all(fit, pace, tmp_path, seen):
    budget = max(5.0, 3 * pace)
    limits = ("--budget", f"{budget}s", "--eval-timeout", "1h", "--workers", "1")
    ended = fit(tmp_path, ("gaussian_nb", "sleeps"), *limits)
    assert ended.code == 0, ended.err
    assert "best pipeline  gaussian_nb" in ended.out
    assert ended.rows["sleeps"].status is Status.CANCELLED
    assert ended.seconds <= budget + SLACK + BUSIER * pace
    assert ended.left == []
    killed = ended.rows["sleeps"].status
    seen(f"exit 0 after {ended.seconds:.1f} s of {budget:.0f}; {killed}; gaussian_nb")


PROMISED = ("PYTHONHASHSEED", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@pytest.mark.fault(
    "F29",
    injected="one seed thrice; hash seeds 1, 2, random; 1, 2, 1 threads",
    expected="the same pipelines, values and winner",
)
def test_one_seed_is_one_run(begin, tmp_path, seen):
    traces = []
    # Without any of these it is a fork, in the threads and with the random hash seed of its server.
    for place, values in enumerate((("1", "1", "1"), ("2", "2", "2"), ())):
        folder = tmp_path / str(place)
        folder.mkdir()
        given = dict(zip(PROMISED, values, strict=False))
        run = begin(
            folder,
            HEALTHY,
            *("--max-evaluations", "6", "--theta-solver", "gp", "--seed", "7"),
            *("--executor", "inline"),
            environment=given,
        )
        ended = run.end()
        assert ended.code == 0, ended.err
        rows = read_all(run.out)
        traces.append(([(row.text, row.loss) for row in rows], ended.out.splitlines()[0]))
    assert len(traces[0][0]) == 6
    assert traces[0] == traces[1] == traces[2]
    seen(f"3 times the same {len(traces[0][0])} evaluations")


def read_all(out: Path):
    from automl_admm.store.sqlite.log import SqliteStore

    store = SqliteStore(out / "store.sqlite")
    try:
        return store.read()
    finally:
        store.close()


@pytest.mark.fault(
    "F29",
    injected="n_jobs 1 and 2, a number of evaluations",
    expected="every pipeline is worth the same in both",
)
def test_workers_change_no_value(fit, tmp_path, seen):
    found = []
    for workers in ("1", "2"):
        folder = tmp_path / workers
        folder.mkdir()
        ended = fit(folder, ("naps_0", "naps_1", *HEALTHY), "--workers", workers)
        assert ended.code == 0, ended.err
        found.append({name: row.loss for name, row in ended.rows.items()})
    assert found[0] == found[1]
    seen(f"{len(found[0])} equal values")
