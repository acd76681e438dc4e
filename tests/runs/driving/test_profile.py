"""The profile adds up fits by component."""

from __future__ import annotations

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.run import RunResult, Stop, StopReason
from automl_admm.core.space import Candidate
from automl_admm.runs.driving.profile import FitTime, fit_times, profile_of


def evaluated(**steps: float) -> Evaluation:
    return Evaluation(1, "k", Candidate((), ()), Status.SUCCESS, loss=0.1, details={"steps": steps})


def test_fits_are_added_up_and_the_longest_comes_first() -> None:
    failed = Evaluation(2, "f", Candidate((), ()), Status.CRASHED)
    found = fit_times([evaluated(scale=0.5, ridge=1.0), failed, evaluated(ridge=2.0)])
    assert found == (FitTime("ridge", 2, 3.0), FitTime("scale", 1, 0.5))


def test_every_second_is_in_a_line_with_its_share() -> None:
    stop = Stop(StopReason.BUDGET)
    work = {"fit": 1.0, "idle": 3.0}
    result = RunResult(None, False, (evaluated(ridge=1.0),), stop, 0.0, work=work)
    result = result.with_ledger({"start": 1.0, "wait": 3.0})
    assert result.seconds == 4.0
    lines = list(profile_of(result).lines())
    assert lines[0] == "the run's own process: 4.00 s"
    assert lines[1].split() == ["3.00", "s", "75", "%", "wait"]
    assert "the workers, during the search: 4.00 s" in lines
    assert lines[-1].split() == ["1.00", "s", "100", "%", "ridge", "×", "1"]
