"""Folders in which an earlier version gave numbers or values to points as we do not any more."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from automl_admm import Parameter, SearchSpace, Study
from automl_admm.core import space as space_module
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.runs.study.journal import Ask, read_journal
from automl_admm.store.sqlite.log import SqliteStore

PLANE = SearchSpace((), (Parameter("x", 0.0, 1.0), Parameter("y", 0.0, 1.0)))


class Folder:
    """A study with trial 2 told and trials 1 and 3 pending, changed as earlier versions did."""

    def __init__(self, path: Path) -> None:
        with Study(PLANE, work_dir=path, random_state=0) as one:
            self.trials = one.ask(3)
            one.tell(self.trials[1], 1.0)
        self.path, self.journal = path, read_journal(path / "asks.jsonl", PLANE)

    def drive(self, number: int, place: int, loss: float) -> None:
        """Give a number to the trial at a place, with a result of `optimize`."""
        store = SqliteStore(self.path / "store.sqlite", write=True)
        key, text = self.trials[place].key, self._text(place)
        candidate = self.journal.asks[place].candidate
        store.begin(number, key, text)
        store.append(Evaluation(number, key, candidate, Status.SUCCESS, loss, text=text))
        store.close()

    def ask(self, number: int, place: int) -> None:
        """Give a number to the trial at a place, by `ask`."""
        store = SqliteStore(self.path / "store.sqlite", write=True)
        store.begin(number, self.trials[place].key, self._text(place))
        store.close()
        self.journal.add(Ask(number, 1, self.journal.asks[place].candidate, "enqueued"))

    def _text(self, place: int) -> str:
        return json.dumps(self.trials[place].values, sort_keys=True)


def one_driven(folder: Folder) -> None:
    folder.drive(3, 0, 100.0)


def all_driven(folder: Folder) -> None:
    folder.drive(3, 0, 100.0)
    folder.drive(4, 2, 50.0)


def asked_again(folder: Folder) -> None:
    folder.ask(3, 0)


def all_asked_again(folder: Folder) -> None:
    folder.ask(3, 0)
    folder.ask(4, 2)


@pytest.mark.parametrize("change", [one_driven, all_driven, asked_again, all_asked_again])
def test_a_result_stays_with_its_point(change: Callable[[Folder], None], tmp_path: Path) -> None:
    folder = Folder(tmp_path / "s")
    change(folder)
    losses = {folder.trials[1].key: 1.0}
    if change in (one_driven, all_driven):
        losses[folder.trials[0].key] = 100.0
    if change is all_driven:
        losses[folder.trials[2].key] = 50.0
    for _ in range(4):
        with Study.load(folder.path) as one:
            assert {result.key: result.loss for result in one.results} == losses
            trial = one.ask()
            assert trial is not None
            one.tell(trial, 7.0)
            losses[trial.key] = 7.0
            numbers = [result.number for result in one.results]
            assert len(set(numbers)) == len(numbers)
    assert {trial.key for trial in folder.trials} <= losses.keys()


def test_a_point_at_zero_is_the_one_that_an_earlier_version_wrote_otherwise(tmp_path: Path) -> None:
    around = SearchSpace(parameters=(Parameter("x", -0.1, 0.7, default=0.0),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space_module, "NOTHING", 0.0)
        with Study(around, work_dir=tmp_path / "s", random_state=0) as one:
            told = one.ask()
            assert told is not None
            assert 0.0 < told.values["x"] < 1e-16
            one.tell(told, 1.0)
            waiting = one.ask()
            assert waiting is not None
    with Study.load(tmp_path / "s") as one:
        assert [(result.number, result.loss) for result in one.results] == [(1, 1.0)]
        again = one.ask()
        assert again is not None
        assert again.values == waiting.values
        one.tell(again, 2.0)
        with pytest.raises(ConfigurationError, match="asked for or told before"):
            one.enqueue({"x": 0.0})
