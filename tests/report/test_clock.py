"""The time of a run: true where the log has times of day, without the pauses between sessions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from report_runs import an_evaluation, write_run

from automl_admm.core.evaluations import ENDED, Evaluation
from automl_admm.report.clock import RunClock, clock_of
from automl_admm.report.sections import convergence, seconds, verdict
from automl_admm.report.view import read_view
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.lock import this_process

DAY = 1_790_000_000.0


def ending(number: int, ended: float | None, **changes: Any) -> Evaluation:
    whole = an_evaluation(number * 7 + 1, **changes)  # none of the failures of `an_evaluation`
    one = replace(whole, number=number, key=f"key-{number}")
    return one if ended is None else replace(one, details={**one.details, ENDED: DAY + ended})


def session(begun: float, seconds: float | None) -> dict[str, Any]:
    return {"begun": datetime.fromtimestamp(DAY + begun, UTC).isoformat(), "seconds": seconds}


def clock(path: Path, evaluations: Sequence[Evaluation], *sessions: dict[str, Any]) -> RunClock:
    view = read_view(write_run(path / "run", evaluations, sessions=list(sessions)))
    return clock_of(view.searched)


def test_the_pause_between_two_sessions_is_no_time_of_the_run(tmp_path: Path) -> None:
    evaluations = [ending(1, 3.0), ending(2, 9.0), ending(3, 5002.0)]
    found = clock(tmp_path, evaluations, session(0.0, 10.0), session(5000.0, 8.0))
    assert found == RunClock({1: 3.0, 2: 9.0, 3: 12.0}, 0, (10.0,))


def test_a_killed_session_lasted_until_its_last_evaluation(tmp_path: Path) -> None:
    evaluations = [ending(1, 3.0), ending(2, 9.0), ending(3, 5002.0)]
    found = clock(tmp_path, evaluations, session(0.0, None), session(5000.0, None))
    assert found.ends == {1: 3.0, 2: 9.0, 3: 11.0}


def test_a_clock_that_was_set_moves_nothing_out_of_its_session(tmp_path: Path) -> None:
    evaluations = [ending(1, -500.0), ending(2, 400.0)]
    found = clock(tmp_path, evaluations, session(0.0, 10.0), session(5000.0, 8.0))
    assert found.ends == {1: 0.0, 2: 10.0}


def test_a_log_without_times_of_day_has_estimates(tmp_path: Path) -> None:
    found = clock(tmp_path, [ending(1, None), ending(2, None)], session(0.0, 10.0))
    assert found == RunClock({1: 0.25, 2: 0.5}, 2)


def test_a_log_of_which_a_part_has_times_of_day_has_both(tmp_path: Path) -> None:
    evaluations = [ending(1, None), ending(2, 5002.0)]
    found = clock(tmp_path, evaluations, session(0.0, 10.0), session(5000.0, 8.0))
    assert found == RunClock({1: 0.25, 2: 12.0}, 1, (10.0,))


def test_incumbents_are_in_the_order_of_their_ends(tmp_path: Path) -> None:
    evaluations = [
        ending(1, 9.0, loss=0.2, constraints=(1.0,)),
        ending(2, 3.0, loss=0.5, constraints=(1.0,)),
    ]
    run = write_run(tmp_path / "run", evaluations, sessions=[session(0.0, 10.0)])
    found = convergence.measure(read_view(run))
    assert [(one.number, one.seconds) for one in found.incumbents] == [(2, 3.0), (1, 9.0)]
    assert "no time of day" not in convergence.draw(found).source


def test_evaluations_are_on_as_many_lanes_as_there_are_workers(tmp_path: Path) -> None:
    evaluations = [ending(number, 1.0 + number // 2, seconds=1.0) for number in range(1, 7)]
    run = write_run(tmp_path / "run", evaluations, sessions=[session(0.0, 10.0)])
    found = seconds.measure(read_view(run))
    assert {one.worker for one in found.held} == {1, 2}
    assert found.busy == pytest.approx(6.0 / (2 * 4.0))
    assert sum(one.evaluations for one in found.held) == 6
    lanes = {w: [(h.begun, h.ended) for h in found.held if h.worker == w] for w in (1, 2)}
    for spans in lanes.values():
        assert all(b >= e for (_, e), (b, _) in pairwise(spans))


def test_a_log_without_times_has_no_lanes(tmp_path: Path) -> None:
    found = seconds.measure(read_view(write_run(tmp_path / "run", [ending(1, None)])))
    assert (found.held, found.busy) == ((), None)


def test_a_session_that_was_killed_has_the_time_that_it_noted(tmp_path: Path) -> None:
    evaluations = [ending(1, 3.0), ending(2, 5002.0)]
    sessions = [session(0.0, 10.0), session(5000.0, None)]
    run = write_run(tmp_path / "run", evaluations, sessions=sessions)
    last = replace(this_process(), session=2, seconds=9.0)
    RunFolder(run).store.with_suffix(".lock").write_text(json.dumps(asdict(last)))
    view = read_view(run)
    assert verdict.measure(view).seconds == 19.0
    assert [spent for _, spent in seconds.measure(view).sessions] == [10.0, 9.0]
    assert clock_of(view.searched).ends == {1: 3.0, 2: 12.0}
