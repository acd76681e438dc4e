"""Out-of-fold predictions in the folder of a run: the best within a bound, and damaged files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Finished
from automl_admm.core.space import Candidate, Selection
from automl_admm.pipelines.cross_validation import PREDICTIONS
from automl_admm.runs import kept_predictions
from automl_admm.runs.kept_predictions import (
    DamagedPredictionsError,
    KeptPredictions,
    are_probabilities,
    remove_others,
)

ROWS = np.array([4, 2, 0, 1])


def evaluation(number: int, loss: float, *, fidelity: float = 1.0, ok: bool = True) -> Evaluation:
    candidate = Candidate(Selection(()), (), fidelity)
    status = Status.SUCCESS if ok else Status.TIMEOUT
    return Evaluation(number, f"k{number}", candidate, status, loss)


def ended(place: Path, number: int) -> Finished:
    """A finished task with predictions in its folder."""
    folder = place / f"task-{number}"
    folder.mkdir()
    np.savez(folder / PREDICTIONS, rows=ROWS, predictions=np.full(4, float(number)))
    return Finished(number, Status.SUCCESS, folder=folder)


def test_the_best_are_kept_within_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_predictions, "MOST_FILES", 2)
    kept = KeptPredictions(tmp_path / "kept", (), ())
    for number, loss in enumerate((0.5, 0.2, 0.4, 0.9), start=1):
        kept.keep(evaluation(number, loss), ended(tmp_path, number))
    kept.keep(evaluation(5, 0.1, fidelity=0.5), ended(tmp_path, 5))
    kept.keep(evaluation(6, 0.1, ok=False), ended(tmp_path, 6))
    assert [one.number for one in kept.evaluations] == [2, 3]
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["2.npz", "3.npz"]
    assert [path.name for path in tmp_path.iterdir()] == ["kept"], "no scratch is left"
    assert kept.read(kept.evaluations[0], ROWS).tolist() == [2.0] * 4


def test_the_bytes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptPredictions(tmp_path / "kept", (), ())
    kept.keep(evaluation(1, 0.5), ended(tmp_path, 1))
    size = (tmp_path / "kept" / "1.npz").stat().st_size
    monkeypatch.setattr(kept_predictions, "MOST_BYTES", 2 * size)
    for number in (2, 3):
        kept.keep(evaluation(number, 0.5 - number / 10), ended(tmp_path, number))
    assert [one.number for one in kept.evaluations] == [3, 2]


def test_those_within_the_limits_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_predictions, "MOST_FILES", 1)
    kept = KeptPredictions(tmp_path / "kept", (), (Limit("size", 2.0),))
    outside = Evaluation(1, "a", Candidate(Selection(()), ()), Status.SUCCESS, 0.1, (9.0,))
    inside = Evaluation(2, "b", Candidate(Selection(()), ()), Status.SUCCESS, 0.8, (1.0,))
    for one in (outside, inside):
        kept.keep(one, ended(tmp_path, one.number))
    assert kept.evaluations == [inside]


def test_half_are_the_best_by_loss_where_members_keep_the_limits_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_predictions, "MOST_FILES", 4)
    limits = (Limit("bias", 2.0),)
    kept = KeptPredictions(tmp_path / "kept", (), limits, together=limits)
    found = [
        Evaluation(number, f"k{number}", Candidate(Selection(()), ()), Status.SUCCESS, *told)
        for number, told in enumerate(
            [
                (0.1, (9.0,)),
                (0.2, (4.0,)),
                (0.3, (5.0,)),
                (0.6, (1.0,)),
                (0.5, (1.0,)),
                (0.7, (1.0,)),
            ],
            start=1,
        )
    ]
    for one in found:
        kept.keep(one, ended(tmp_path, one.number))
    assert [one.number for one in kept.evaluations] == [5, 4, 2, 1], "best first, as ever"
    assert [one.number for one in kept.first(4)] == [5, 4, 1, 2]
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {
        f"{n}.npz" for n in (5, 4, 1, 2)
    }


def test_none_is_among_the_best_by_loss_that_another_limit_refuses(tmp_path: Path) -> None:
    limits = (Limit("mae", 2.0), Limit("latency_us", 50.0))
    kept = KeptPredictions(tmp_path / "kept", (), limits, together=limits[:1])
    told = [(0.1, (1.0, 80.0)), (0.2, (1.0, 90.0)), (0.4, (3.0, 10.0)), (0.5, (1.0, 10.0))]
    more = [(0.3, (4.0, 10.0)), (0.6, (1.0, 20.0))]
    for number, (loss, values) in enumerate([*told, *more], start=1):
        candidate = Candidate(Selection(()), ())
        one = Evaluation(number, f"k{number}", candidate, Status.SUCCESS, loss, values)
        kept.keep(one, ended(tmp_path, number))
    assert [one.number for one in kept.first(4)] == [4, 6, 5, 3, 1, 2]


def test_those_that_another_limit_refuses_come_last_where_few_keep_it(tmp_path: Path) -> None:
    limits = (Limit("mae", 2.0), Limit("latency_us", 50.0))
    kept = KeptPredictions(tmp_path / "kept", (), limits, together=limits[:1])
    told = [(0.1, (1.0, 51.0)), (0.2, (1.0, 52.0)), (0.4, (3.0, 10.0)), (0.5, (1.0, 10.0))]
    for number, (loss, values) in enumerate(told, start=1):
        candidate = Candidate(Selection(()), ())
        one = Evaluation(number, f"k{number}", candidate, Status.SUCCESS, loss, values)
        kept.keep(one, ended(tmp_path, number))
    assert [one.number for one in kept.evaluations] == [4, 1, 2, 3]
    assert [one.number for one in kept.first(4)] == [4, 3, 1, 2]


def test_a_later_session_finds_those_of_the_earlier_one(tmp_path: Path) -> None:
    first = KeptPredictions(tmp_path / "kept", (), ())
    known = [evaluation(1, 0.5), evaluation(2, 0.2), evaluation(3, 0.3)]
    for one in known[:2]:
        first.keep(one, ended(tmp_path, one.number))
    again = KeptPredictions(tmp_path / "kept", known, ())
    assert [one.number for one in again.evaluations] == [2, 1]


def test_a_number_that_is_given_again_finds_no_file_of_before(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    first = KeptPredictions(folder, (), ())
    for number in (1, 2, 3):
        first.keep(evaluation(number, 0.5), ended(tmp_path, number))
    (folder / "mine.npz").touch()
    remove_others(folder, [evaluation(1, 0.5), evaluation(3, 0.5, ok=False)])
    assert sorted(path.name for path in folder.iterdir()) == ["1.npz", "mine.npz"]
    remove_others(tmp_path / "nowhere", ())


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def other_rows(path: Path) -> None:
    np.savez(path, rows=ROWS[::-1], predictions=np.ones(4))


def infinite(path: Path) -> None:
    np.savez(path, rows=ROWS, predictions=np.array([0.0, np.nan, 1.0, 2.0]))


def fewer(path: Path) -> None:
    np.savez(path, rows=ROWS, predictions=np.ones(3))


def texts(path: Path) -> None:
    np.savez(path, rows=ROWS, predictions=np.array(list("abcd")))


def nameless(path: Path) -> None:
    np.savez(path, rows=ROWS)


def pickled(path: Path) -> None:
    np.savez(path, rows=ROWS, predictions=np.array([None] * 4, dtype=object))


def bomb(path: Path) -> None:
    np.savez_compressed(path, rows=ROWS, predictions=np.zeros((4, 1_000_000)))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def gone(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize(
    "damage",
    [cut_off, other_rows, infinite, fewer, texts, nameless, pickled, bomb, empty, fifo, gone],
)
def test_a_damaged_file_is_told_in_one_line(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    kept = KeptPredictions(tmp_path / "kept", (), ())
    one = evaluation(1, 0.5)
    kept.keep(one, ended(tmp_path, 1))
    damage(tmp_path / "kept" / "1.npz")
    with pytest.raises(DamagedPredictionsError) as told:
        kept.read(one, ROWS)
    assert str(told.value)
    assert "\n" not in str(told.value)


def test_probabilities_are_told_from_scores() -> None:
    assert are_probabilities(np.array([[0.25, 0.75], [1.0, 0.0]]), 2)
    assert not are_probabilities(np.array([[0.25, 0.75], [1.0, 0.1]]), 2)
    assert not are_probabilities(np.array([[1.5, -0.5]]), 2)
    assert not are_probabilities(np.array([0.25, 0.75]), 2)
    assert not are_probabilities(np.array([[0.25, 0.75]]), 3)
