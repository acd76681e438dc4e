"""The energy of predictions: counted by the machine where it tells, else modelled."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from automl_admm.builtin.constraints import energy, energy_counters
from automl_admm.builtin.constraints.energy import Power, energy_j
from automl_admm.builtin.constraints.energy_counters import Counter, Reading, find_counters
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

X = np.arange(20.0).reshape(10, 2)
MOST = 100_000_000


def work(seconds: float) -> None:
    """Use the processor."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


class Working:
    """A model that works for so long, and moves a counter by so many microjoules meanwhile."""

    def __init__(self, seconds: float, counter: Path | None = None, microjoules: int = 0) -> None:
        self.seconds, self.counter, self.microjoules = seconds, counter, microjoules
        self.rows: list[int] = []

    def predict(self, X: Any) -> Any:
        self.rows.append(len(X))
        work(self.seconds)
        if self.counter is not None:
            counted = int(self.counter.read_text()) + self.microjoules
            self.counter.write_text(str(counted % (MOST + 1)))
        return np.zeros(len(X))


def measured(model: Any, watts: float = 0.0) -> Any:
    y, power = np.zeros(len(X)), Power(watts)
    return energy_j(EvaluatedPipeline(model, X, y, y, fit_seconds=0.0, predict_seconds=0.0), power)


def domain(folder: Path, title: str, energy: int) -> Path:
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{title}\n")
    (folder / "max_energy_range_uj").write_text(str(MOST))
    (folder / "energy_uj").write_text(str(energy))
    return folder / "energy_uj"


@pytest.fixture
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two packages, one of which stands still, and domains that are in them or hold them all."""
    monkeypatch.setattr(energy_counters, "POWERCAP", tmp_path)
    # As on a machine that does nothing else.
    monkeypatch.setattr(energy_counters, "busy_seconds", time.process_time)
    domain(tmp_path / "intel-rapl:1", "package-1", 7)
    domain(tmp_path / "intel-rapl:2", "psys", 99)
    domain(tmp_path / "intel-rapl:0:0", "core", 50)
    return domain(tmp_path / "intel-rapl:0", "package-0", MOST - 3_000_000)


def test_the_energy_of_a_call_is_counted_also_where_a_counter_begins_again(counter: Path) -> None:
    found = measured(Working(0.05, counter, 2_000_000))
    assert found.value == pytest.approx(2.0, rel=0.05)
    assert "counted" in found.why


def test_others_on_the_machine_have_their_part(
    counter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(energy_counters, "busy_seconds", lambda: 4.0 * time.process_time())
    assert measured(Working(0.05, counter, 2_000_000)).value == pytest.approx(0.5, rel=0.05)


def test_packages_alone_are_counted(counter: Path) -> None:
    assert [one.file.parent.name for one in find_counters()] == ["intel-rapl:0", "intel-rapl:1"]
    counter.unlink()  # as good as one that nobody may read
    assert find_counters() == ()


@pytest.mark.parametrize("content", ["", "many"])
def test_a_counter_that_makes_no_sense_is_none(counter: Path, content: str) -> None:
    counter.write_text(content)
    found = measured(Working(0.01))
    assert found.value == pytest.approx(0.1, rel=0.3)
    assert "modelled" in found.why


def test_counters_that_stand_still_tell_nothing(counter: Path) -> None:
    assert "modelled" in measured(Working(0.01, counter, 0)).why


def test_without_counters_it_is_processor_time_at_some_watts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(energy_counters, "POWERCAP", tmp_path / "none")
    model = Working(0.02)
    usual, hot = measured(model), measured(model, 25.0)
    assert hot.value / usual.value == pytest.approx(2.5, rel=0.3)
    assert usual.value == pytest.approx(0.2, rel=0.3)
    assert hot.why == "its energy is modelled, as processor time at 25 W a core"
    assert set(model.rows) == {1000}


def test_given_watts_are_a_model_on_every_machine(counter: Path) -> None:
    assert "modelled" in measured(Working(0.01, counter, 2_000_000), 10.0).why


def test_waiting_takes_no_energy() -> None:
    class Waiting(Working):
        def predict(self, X: Any) -> Any:
            time.sleep(0.01)
            return super().predict(X)

    assert measured(Waiting(0.01), 10.0).value < 0.15


def test_ticks_that_are_behind_take_no_more_than_all() -> None:
    counters = (Counter(Path("none"), MOST),)
    before, after = (Reading(counters, (n,), busy=5.0, own=own) for n, own in ((0, 0.0), (9, 1.0)))
    assert before.joules_until(after) == pytest.approx(9e-6)


def test_a_call_is_repeated_and_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energy, "MOST_CALLS", 5)
    model = Working(0.0)
    measured(model, 1.0)
    assert len(model.rows) == 6  # the warm-up, too
