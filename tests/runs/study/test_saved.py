"""A study in a folder: nothing told is lost, and it goes on as if it had never stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from program import run_python

from automl_admm import (
    Choice,
    Condition,
    Order,
    Parameter,
    SearchSpace,
    Study,
    Trial,
    minimize,
)
from automl_admm.core.errors import AutomlAdmmError, ConfigurationError, StoreError
from automl_admm.store.json_content import with_digest
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.log import SqliteStore

SPACE = SearchSpace(
    (
        Choice("shape", ("round", "flat"), values=(1, None)),
        Order("steps", ("cut", "press", "dry"), precedence=((0, 2),)),
    ),
    (
        Parameter("x", 0.001, 1.0, log=True),
        Parameter("k", 0, 2, kind="category", values=("a", "b", 3)),
        Parameter("depth", 1, 5, kind="int", when=Condition("shape", ("flat",))),
    ),
)
OPTIONS: dict[str, Any] = {"constraints": ["size <= 4"], "max_evaluations": 14, "random_state": 5}


class Colour(StrEnum):
    RED = "red"


def space_of(values: tuple[Any, ...], *, is_choice: bool) -> SearchSpace:
    if is_choice:
        labels = tuple(f"v{place}" for place in range(len(values)))
        return SearchSpace((Choice("n", labels, values=values),), ())
    return SearchSpace((), (Parameter("n", 0, len(values) - 1, kind="category", values=values),))


@pytest.mark.parametrize("is_choice", [False, True])
def test_values_of_numpy_come_back_as_they_were(is_choice: bool, tmp_path: Path) -> None:
    space = space_of((np.int64(16), np.bool_(False), np.str_("a")), is_choice=is_choice)
    seen: list[Any] = []

    def objective(values: dict[str, Any]) -> float:
        seen.append(values["n"])
        return float(values["n"] == "a")

    begun = minimize(objective, space, max_evaluations=1, random_state=0, work_dir=tmp_path / "s")
    found = Study.load(tmp_path / "s")
    found.optimize(objective, 5)
    assert sorted(map(str, seen)) == ["16", "False", "a"]
    assert {type(one) for one in seen} == {int, bool, str}
    assert {type(one.values["n"]) for one in found.results} == {int, bool, str}
    again = Study(space, warm_start=begun, random_state=1)
    assert [one.values for one in again.results] == [{"n": seen[0]}]


@pytest.mark.parametrize("is_choice", [False, True])
@pytest.mark.parametrize(
    "value", [(64, 32), [64], {"a": 1}, abs, Colour.RED, "half of \ud800", "\0", 10**400]
)
def test_a_value_that_no_file_gives_back_is_refused_before_a_folder_is_made(
    value: Any, is_choice: bool, tmp_path: Path
) -> None:
    space = space_of((value, None), is_choice=is_choice)
    with pytest.raises(ConfigurationError, match=r"a folder cannot keep the value .* of 'n'\."):
        Study(space, work_dir=tmp_path / "s")
    assert not (tmp_path / "s").exists()
    in_memory = Study(space, random_state=0)
    in_memory.tell(in_memory.ask(), loss=1.0)
    with pytest.raises(ConfigurationError, match="a folder cannot keep"):
        in_memory.save(tmp_path / "s")


def weigh(values: dict[str, Any]) -> dict[str, float]:
    loss = abs(values["x"] - 0.2) + (values["k"] == 3) + 0.1 * (values["shape"] is None)
    return {"loss": loss, "size": float(values.get("depth", 3))}


def drive(one: Study, count: int | None = None) -> Study:
    for place, trial in enumerate(one, start=1):
        one.tell(trial, weigh(trial.values))
        if place == count:
            break
    return one


def drive_by(one: Study, count: int) -> None:
    for trial in one.ask(count):
        one.tell(trial, trial.values["x"])


def keys(one: Study) -> list[str]:
    return [result.key for result in one.results]


@pytest.fixture(scope="module")
def whole() -> Study:
    return drive(Study(SPACE, **OPTIONS))


def test_a_resumed_study_makes_the_proposals_it_would_have_made(
    whole: Study, tmp_path: Path
) -> None:
    with Study(SPACE, work_dir=tmp_path / "s", **OPTIONS) as one:
        drive(one, 9)
        asked = one.ask()
    with Study.load(tmp_path / "s") as again:
        assert keys(again) == keys(whole)[:9]
        assert again.pending == (asked,)
        assert again.ask() == asked
        again.tell(asked, weigh(asked.values))
        assert keys(drive(again)) == keys(whole)
        assert again.ended == "evaluations"
        assert again.best == whole.best


def test_trials_told_in_another_order_are_proposed_again_all_the_same(tmp_path: Path) -> None:
    def some(one: Study) -> list[Trial]:
        for trial in reversed(one.ask(4)):
            one.tell(trial, weigh(trial.values))
        waiting = one.ask(3)
        one.tell(waiting[1], failed="no power")
        one.enqueue({"x": 0.5})
        return waiting

    endless = OPTIONS | {"max_evaluations": None}
    straight = Study(SPACE, **endless)
    left = some(straight)
    with Study(SPACE, work_dir=tmp_path / "s", **endless) as one:
        assert [trial.key for trial in some(one)] == [trial.key for trial in left]
    with Study.load(tmp_path / "s") as again:
        assert [trial.key for trial in again.pending] == [left[0].key, left[2].key]
        for trial in again.ask(2):
            again.tell(trial, weigh(trial.values))
        for trial in (left[0], left[2]):
            straight.tell(trial, weigh(trial.values))
        assert again.results[5].failed == "no power"
        assert keys(drive(again, 6)) == keys(drive(straight, 6))
        assert again.results[7].values["x"] == 0.5


def test_a_run_of_optimize_goes_on_by_hand_as_it_would_have(whole: Study, tmp_path: Path) -> None:
    with Study(SPACE, work_dir=tmp_path / "s", **OPTIONS) as one:
        one.optimize(weigh, 6)
    with Study.load(tmp_path / "s") as again:
        assert keys(drive(again)) == keys(whole)


def test_a_study_with_other_solvers_goes_on_with_all_that_is_known(
    whole: Study, tmp_path: Path
) -> None:
    with Study(SPACE, work_dir=tmp_path / "s", **OPTIONS) as one:
        drive(one, 10)
        asked = one.ask()
    with Study.load(tmp_path / "s", theta_solver="random", max_evaluations=16) as again:
        assert keys(again) == keys(whole)[:10]
        assert again.pending == (asked,)
        assert len(keys(drive(again))) == 16


def test_a_study_in_memory_is_saved_and_loaded(whole: Study, tmp_path: Path) -> None:
    one = drive(Study(SPACE, **OPTIONS), 8)
    one.save(tmp_path / "copy")
    with Study.load(tmp_path / "copy") as again:
        assert keys(drive(again)) == keys(whole)
    with pytest.raises(ConfigurationError, match="is not empty"):
        one.save(tmp_path / "copy")


KILLED = """
import os
from {module} import OPTIONS, SPACE, Study, weigh
study = Study(SPACE, work_dir={place!r}, **OPTIONS)
for number, trial in enumerate(study, start=1):
    study.tell(trial, weigh(trial.values))
    if number == 7:
        study.ask()
        os.kill(os.getpid(), 9)
"""


def test_a_told_trial_survives_a_kill(whole: Study, tmp_path: Path) -> None:
    here, place = Path(__file__), str(tmp_path / "s")
    program = KILLED.format(module=here.stem, place=place)
    # The program finds this module in its working folder.
    ended = run_python("-c", program, cwd=here.parent)
    assert ended.returncode == -signal.SIGKILL
    with Study.load(place) as again:
        assert keys(again) == keys(whole)[:7]
        assert [trial.key for trial in again.pending] == [keys(whole)[7]]
        assert keys(drive(again)) == keys(whole)


def test_two_owners_of_one_folder_are_refused(tmp_path: Path) -> None:
    with Study(SPACE, work_dir=tmp_path / "s", **OPTIONS):
        with pytest.raises(StoreError, match=f"is being written by process {os.getpid()}"):
            Study.load(tmp_path / "s")
        with pytest.raises(ConfigurationError, match="is not empty"):
            Study(SPACE, work_dir=tmp_path / "s", **OPTIONS)


def test_what_no_file_can_keep_must_be_given_again(tmp_path: Path) -> None:
    cheap = {"size": lambda values: float(values.get("depth", 3))}
    with Study(SPACE, work_dir=tmp_path / "s", cheap=cheap, **OPTIONS) as one:
        drive(one, 3)
    with pytest.raises(ConfigurationError, match=r"Give them again: cheap=\{…\}"):
        Study.load(tmp_path / "s")
    with Study.load(tmp_path / "s", cheap=cheap) as again:
        assert len(again.results) == 3


def test_other_limits_on_the_same_quantities_judge_anew(tmp_path: Path) -> None:
    with Study(SPACE, work_dir=tmp_path / "s", **OPTIONS) as one:
        drive(one, 6)
    with Study.load(tmp_path / "s", constraints=["size <= 0"]) as again:
        assert again.best is not None
        assert not again.best.feasible
    with pytest.raises(ConfigurationError, match="on other quantities than before"):
        Study.load(tmp_path / "s", constraints=["width <= 0"])
    with pytest.raises(ConfigurationError, match="no argument of a study named 'limit'"):
        Study.load(tmp_path / "s", limit=["size <= 0"])


def test_a_folder_without_a_study_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"holds no study\.json"):
        Study.load(tmp_path)


def test_a_study_read_as_a_run_is_told_how_to_open_it(tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text("{}")
    with pytest.raises(StoreError, match=r"Study\.load"):
        RunFolder(tmp_path).read(RunFolder(tmp_path).settings)


def test_an_order_comes_back_from_a_csv_file(tmp_path: Path) -> None:
    space = SearchSpace((Order("steps", ("a", "b", "c")),), ())
    one = Study(space, random_state=0)
    for loss, trial in enumerate(one.ask(3)):
        one.tell(trial, float(loss))
    rows = [{**found.values, "loss": found.loss} for found in one.results]
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame(rows).to_csv(tmp_path / "log.csv", index=False)
    again = Study(space, random_state=0)
    assert again.add_observations(pandas.read_csv(tmp_path / "log.csv")) == 3
    assert [found.values for found in again.results] == [found.values for found in one.results]


def test_trials_that_optimize_took_over_are_no_damage(tmp_path: Path) -> None:
    space = SearchSpace((), (Parameter("p", 0.0, 1.0),))
    with Study(space, work_dir=tmp_path / "s", random_state=0) as one:
        one.ask(3)
    with Study.load(tmp_path / "s") as two:
        two.optimize(lambda values: values["p"], evaluations=1)
        trial = two.ask()
        two.tell(trial, 0.3)
    with Study.load(tmp_path / "s") as three:
        assert [found.number for found in three.results] == [1, trial.number]
        assert [one.number for one in three.pending] == [3]


def test_two_pending_trials_of_one_number_are_told(tmp_path: Path) -> None:
    with Study(SPACE, work_dir=tmp_path / "s", **OPTIONS) as one:
        one.ask(2)
    _with_one_number_for_two(tmp_path / "s")
    with pytest.raises(AutomlAdmmError, match="are not of one study: trial 1 has shape = "):
        Study.load(tmp_path / "s")


def _shorter(folder: Path) -> None:
    path = folder / "asks.jsonl"
    path.write_bytes(path.read_bytes()[:-5])


def _without_asks(folder: Path) -> None:
    (folder / "asks.jsonl").unlink()


def _with_no_ask(folder: Path) -> None:
    (folder / "asks.jsonl").write_bytes(b"")


def _with_one_number_for_two(folder: Path) -> None:
    path = folder / "asks.jsonl"
    path.write_text(path.read_text().replace('"number": 2', '"number": 1'))


def _written(name: str, value: Any) -> Any:
    """Change `study.json` with a digest of its own."""

    def change(folder: Path) -> None:
        path = folder / "study.json"
        content = json.loads(path.read_text()) | {name: value}
        path.write_text(json.dumps(with_digest(content)))

    return change


def _edited(old: str, new: str) -> Any:
    def change(folder: Path) -> None:
        path = folder / "study.json"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return change


def _line(old: str, new: str) -> Any:
    def change(folder: Path) -> None:
        path = folder / "asks.jsonl"
        path.write_text(path.read_text().replace(old, new))

    return change


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_written("parameters", 3), "'parameters' is 3"),
        (_written("decisions", [{"kind": "tree"}]), "a choice or an order"),
        (_written("parameters", []), r"asks\.jsonl' is damaged in line 1"),
        (_written("version", 1), r"another version of automl-admm\. Begin a new study, or"),
        (_written("options", {"theta_solver": "gone"}), "no theta solver named 'gone'"),
        (_written("options", {"theta": 1}), "'theta'"),
        (_edited('"high": 1.0', '"high": 0.5'), r"content_sha256 says\. Restore it; Study\.load"),
        (_edited('"name": "size"', '"name": "width"'), "not what its content_sha256 says"),
        (_line('"heard": 0', '"heard": -1'), "damaged in line 1: 'heard' is -1"),
        (_line('"round"', '"square"'), "damaged in line 1: it is no point of the space"),
        (_line('"cut", ', ""), "damaged in line 1: it is no point of the space"),
        (_line('"dry"', '"fry"'), "damaged in line 1: it is no point of the space"),
        (_line("{", "["), "damaged in line 1: it is no JSON"),
        (_without_asks, r"asks\.jsonl' cannot be used: it is missing\. .* warm_start='"),
        (_with_no_ask, "trial 1 of the store is missing in it"),
        (_with_one_number_for_two, "not of one study: trial 1 has x = "),
    ],
)
def test_a_damaged_folder_is_told_in_one_line(tmp_path: Path, damage: Any, words: str) -> None:
    with Study(SPACE, work_dir=tmp_path / "s", **OPTIONS) as one:
        drive(one, 2)
    damage(tmp_path / "s")
    with pytest.raises(AutomlAdmmError, match=words) as told:
        Study.load(tmp_path / "s")
    assert "\n" not in str(told.value)


def _other(low: float, high: float) -> dict[str, Any]:
    return {"kind": "float", "low": low, "high": high, "log": False, "default": None}


PLAIN = SearchSpace((), (Parameter("x", 0.0, 1.0),))


@pytest.mark.parametrize("told", [True, False], ids=["told", "pending"])
@pytest.mark.parametrize("high", [0.5, 2.0])
def test_a_place_is_not_taken_for_another_value(tmp_path: Path, told: bool, high: float) -> None:
    """A study of a version without digests, whose file was changed: no loss moves to new values."""
    with Study(PLAIN, work_dir=tmp_path / "s", random_state=0) as one:
        trial = one.ask()
        assert trial is not None
        if told:
            one.tell(trial, 0.25)
    range_ = {"name": "x", "values": [], "when": None} | _other(0.0, high)
    _written("parameters", [range_])(tmp_path / "s")
    words = rf"of one study: trial 1 has x = {trial.values['x']} in the store, and {high / 2} by"
    with pytest.raises(StoreError, match=words):
        Study.load(tmp_path / "s")


def test_a_store_with_fewer_limits_is_told(tmp_path: Path) -> None:
    with Study(PLAIN, work_dir=tmp_path / "s", random_state=0) as one:
        drive_by(one, 1)
    limit = {"name": "size", "bound": 4.0, "at_least": False, "extreme": None}
    _written("limits", [limit])(tmp_path / "s")
    with pytest.raises(StoreError, match="trial 1 has 0 limited values for 1"):
        Study.load(tmp_path / "s")


@pytest.mark.parametrize("space", [SPACE, PLAIN], ids=["other space", "same space"])
def test_a_store_of_another_study_is_told(tmp_path: Path, space: SearchSpace) -> None:
    with Study(PLAIN, work_dir=tmp_path / "s", random_state=0) as one:
        drive_by(one, 3)
    with Study(space, work_dir=tmp_path / "o", random_state=1) as other:
        other.enqueue({"x": 0.75})
        for trial in other.ask(3):
            other.tell(trial, 0.5)
    for path in (tmp_path / "o").glob("store.*"):
        shutil.copy(path, tmp_path / "s" / path.name)
    with pytest.raises(StoreError, match="are not of one study: trial 1 ") as told:
        Study.load(tmp_path / "s")
    assert "\n" not in str(told.value)


def test_an_evaluation_that_was_killed_may_leave_its_number_to_another(tmp_path: Path) -> None:
    with Study(PLAIN, work_dir=tmp_path / "s", random_state=0) as one:
        drive_by(one, 2)
    killed = SqliteStore(tmp_path / "s" / "store.sqlite", write=True)
    killed.begin(3, "key", '{"x": 0.9}')  # of an `optimize` that a kill ended
    killed.close()
    with Study.load(tmp_path / "s") as again:
        third = again.ask()
        assert third is not None
        assert third.number == 3
    with Study.load(tmp_path / "s") as again:
        assert again.pending == (third,)


def test_results_of_a_study_without_its_journal_are_taken_over(tmp_path: Path) -> None:
    with Study(SPACE, work_dir=tmp_path / "s", **OPTIONS) as one:
        drive(one, 2)
    _without_asks(tmp_path / "s")
    assert keys(Study(SPACE, warm_start=str(tmp_path / "s"), **OPTIONS)) == keys(one)


def test_a_study_that_nobody_asked_is_loaded(tmp_path: Path) -> None:
    with Study(SPACE, work_dir=tmp_path / "s", **OPTIONS) as one:
        one.optimize(weigh, evaluations=2)
    with Study.load(tmp_path / "s") as again:
        assert keys(again) == keys(one)


def test_a_torn_last_line_is_the_kill_in_the_middle_of_an_ask(whole: Study, tmp_path: Path) -> None:
    with Study(SPACE, work_dir=tmp_path / "s", **OPTIONS) as one:
        drive(one, 5)
        one.ask()
    _shorter(tmp_path / "s")
    with Study.load(tmp_path / "s") as again:
        assert again.pending == ()
        assert keys(drive(again)) == keys(whole)


class Middle:
    """A θ-solver that proposes points near the middle, drawn from the seed."""

    def begin(self, subproblem: Any) -> None:
        self.rng, self.size = (
            np.random.default_rng(subproblem.seed),
            len(subproblem.space.parameters),
        )

    def ask(self, count: int, pending: Any) -> list[Any]:
        return [self.rng.uniform(0.4, 0.6, self.size) for _ in range(count)]

    def tell(self, observations: Any) -> None:
        """Learn nothing."""


@pytest.mark.parametrize("given", [Middle, Middle()], ids=["class", "object"])
def test_a_solver_given_as_an_object_is_asked_for_again(tmp_path: Path, given: Any) -> None:
    with Study(SPACE, work_dir=tmp_path / "s", theta_solver=given, **OPTIONS) as one:
        drive(one, 3)
        before = keys(one)
    with pytest.raises(ConfigurationError, match="theta_solver of this study was given as") as told:
        Study.load(tmp_path / "s")
    assert "Give the same again: theta_solver=" in str(told.value)
    with Study.load(tmp_path / "s", theta_solver=Middle) as again:
        assert keys(again) == before
        assert again.ask() is not None


def test_a_whole_number_that_was_a_float_is_named(tmp_path: Path) -> None:
    for kind in ("float", "int"):
        space = SearchSpace((), (Parameter("n", 1, 4, kind=kind),))
        with Study(space, work_dir=tmp_path / kind, random_state=0) as one:
            one.enqueue({"n": 3})
            trial = one.ask()
            assert trial is not None
            one.tell(trial, 1.0)
    for file in (tmp_path / "int").glob("store.*"):
        (tmp_path / "float" / file.name).write_bytes(file.read_bytes())
    with pytest.raises(StoreError, match=r"has n = 3 in the store, and 3\.0 by the other files"):
        Study.load(tmp_path / "float")


def test_a_loss_of_minus_zero_is_read_again_as_zero(tmp_path: Path) -> None:
    # SQLite has one zero, and its row is held to a hash.
    with Study(space_of((1, 2), is_choice=True), random_state=0, work_dir=tmp_path / "s") as one:
        one.tell(one.ask(), loss=-0.0)
    with Study.load(tmp_path / "s") as again:
        assert [str(result.loss) for result in again.results] == ["0.0"]
