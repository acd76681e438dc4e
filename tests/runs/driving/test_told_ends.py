"""What an executor tells of ended tasks is checked where it comes in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pytest

from automl_admm import AutoMLRegressor, minimize
from automl_admm.core.errors import PluginError
from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Finished, Task
from automl_admm.core.space import Candidate, Parameter, SearchSpace, Selection
from automl_admm.execution.inline_executor import InlineExecutor
from automl_admm.plugins.records import ExecutorSetting
from automl_admm.runs.blackbox import BlackBoxWork
from automl_admm.runs.driving.dispatch import Dispatcher, TaskKind
from automl_admm.runs.driving.told_ends import as_agreed, fault_of
from automl_admm.store.rescue.checking import check
from automl_admm.store.sqlite.log import SqliteStore
from automl_admm.store.sqlite.rows import wrong_details

SPACE = SearchSpace((), (Parameter("x", 0.0, 1.0),))
DONE = Finished(3, Status.SUCCESS, {"loss": 0.5}, seconds=1.0)
KEPT = Task(3, "evaluate", {}, keep=True)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"status": "success"}, "with status='success', which is not a Status"),
        ({"status": None}, "with status=None, which is not a Status"),
        ({"result": None}, "with result=None, which is not a mapping"),
        ({"message": None}, "with message=None, which is not a text"),
        ({"message": b"no"}, "with message=b'no', which is not a text"),
        ({"seconds": None}, "with seconds=None, which is not a number"),
        ({"seconds": math.inf}, "with seconds=inf, which is not finite"),
        ({"seconds": 10**400}, "with seconds=1000"),
        ({"seconds": math.nan}, "with seconds=nan, which is not finite"),
        ({"folder": "/tmp"}, "with folder='/tmp', which is not a Path or None"),  # noqa: S108
        ({"folder": Path("/gone")}, "with its files in '/gone', and there is no such folder"),
    ],
    ids=str,
)
def test_what_is_no_end_of_a_task_is_told(wrong: dict[str, Any], says: str) -> None:
    found = str(fault_of(replace(DONE, **wrong), {3: KEPT}))
    assert found.startswith(f"it says that task 3 ended {says}")


@pytest.mark.parametrize(
    ("told", "task"),
    [
        (replace(DONE, folder=Path("/gone")), replace(KEPT, keep=False)),
        (replace(DONE, folder=Path("/gone"), status=Status.ERROR), KEPT),
        (replace(DONE, folder=Path("/removed/scratch/task-3")), KEPT),
    ],
    ids=["not to be kept", "no success", "of a removed run"],
)
def test_a_folder_that_nobody_needs_or_that_went_with_its_run_is_no_fault(
    told: Finished, task: Task
) -> None:
    assert fault_of(told, {3: task}) is None


def test_what_is_no_number_of_a_task_is_told() -> None:
    found = fault_of(replace(DONE, number="3"), {})  # type: ignore[arg-type]
    assert found == "it says that task '3' ended with number='3', which is not a whole number"


def test_numbers_of_numpy_and_a_clock_that_is_behind_do_no_harm() -> None:
    told = replace(DONE, number=np.int64(3), seconds=np.float32(-7.0))  # type: ignore[arg-type]
    assert fault_of(told, {}) is None
    agreed = as_agreed(told, killed=())
    assert (agreed.number, agreed.seconds) == (3, 0.0)
    assert (type(agreed.number), type(agreed.seconds)) == (int, float)


def test_a_result_is_made_plain_as_by_json() -> None:
    inner = MappingProxyType({"n": np.int64(2), "is_so": np.True_, 3: Fraction(1, 4)})
    given = {"loss": np.float32(0.5), "constraints": np.array([1.0]), "details": inner}
    agreed = as_agreed(replace(DONE, result=MappingProxyType(given)), killed=())
    assert agreed.status is Status.SUCCESS
    details = {"n": 2, "is_so": True, "3": 0.25}
    assert agreed.result == {"loss": 0.5, "constraints": [1.0], "details": details}
    assert type(agreed.result["loss"]) is float


def test_a_number_of_numpy_with_more_digits_than_a_float_is_a_float() -> None:
    agreed = as_agreed(replace(DONE, result={"loss": np.longdouble(0.5)}), killed=())
    assert (agreed.status, agreed.result) == (Status.SUCCESS, {"loss": 0.5})


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        ({1}, "Object of type set is not JSON serializable"),
        (np.datetime64(7, "ns"), "Object of type datetime64 is not JSON serializable"),
        (Fraction(10**400), "integer division result too large for a float"),
    ],
    ids=["set", "time", "number"],
)
def test_a_result_that_json_does_not_take_is_invalid_alone(loss: object, says: str) -> None:
    agreed = as_agreed(replace(DONE, result={"loss": loss}), killed=())
    said = f"the result cannot be written as JSON: {says}"
    assert (agreed.status, agreed.message, agreed.result) == (Status.INVALID, said, {})


def test_the_result_of_a_failure_that_json_does_not_take_is_left_out() -> None:
    failed = as_agreed(Finished(3, Status.ERROR, {"at": {1}}, "no node"), killed=())
    assert (failed.status, failed.message, failed.result) == (Status.ERROR, "no node", {})


@pytest.mark.parametrize(
    ("answered", "says"),
    [
        ([7, 1.0], None),
        ((7, np.float64(1.0)), None),
        ((7, 0.5), "with the result of another task"),
        (None, "with answered=None, which is no list"),
        ("71", "with answered='71', which is no list"),
    ],
    ids=str,
)
def test_what_an_evaluation_answered_is_a_list_or_a_tuple(
    answered: object, says: str | None
) -> None:
    asked = Task(3, "evaluate", {"seed": 7, "candidate": Candidate(Selection(()), (0.5,))})
    found = fault_of(replace(DONE, result={"answered": answered}), {3: asked})
    assert found == (says and f"it says that task 3 ended {says}")


SOUND = {"loss": 0.1, "constraints": [1.0, 2.0]}
CHOSEN = {"counts": [1, 1], "gain": 0.1, "error": 0.1, "errors": 1.0, "evaluation": None}


@pytest.mark.parametrize(
    ("method", "result", "says"),
    [
        ("refit", {"files": ["model"]}, "ValueError: dictionary update"),
        ("fit_folds", {"held_out_rows": None}, "TypeError: int()"),
        ("settle", {"code": 1}, "AttributeError: 'int'"),
        ("assemble", {"costs": ["dear"]}, "ValueError: could not convert"),
        ("fall_back", {"rows": 5}, "KeyError: 'evaluation'"),
        ("choose_ensemble", {}, "KeyError: 'counts'"),
        ("refit", {"held_out_decisions": {"recall": "abc"}}, "ValueError: could not convert"),
        ("refit", {"held_out_rows": -5}, "ValueError: -5 is no number of rows"),
        ("refit", {"files": {"pipeline.pickle": 5}}, "TypeError: 5 is no text"),
        ("refit", {"one_class": 5}, "TypeError: 5 is no text"),
        ("choose_ensemble", CHOSEN | {"gain": None}, "TypeError: float()"),
        ("choose_ensemble", CHOSEN | {"error": "small"}, "ValueError: could not convert"),
        ("choose_ensemble", CHOSEN | {"counts": [-1, 2]}, "ValueError: its counts are no"),
    ],
)
def test_a_result_that_is_no_fit_is_told(method: str, result: dict[str, Any], says: str) -> None:
    told, tasks = replace(DONE, result=result), {3: Task(3, method, {})}
    found = str(fault_of(told, tasks))
    said = f"it says that task 3 ended with a wrong result of the task '{method}': {says}"
    assert found.startswith(said)
    assert fault_of(replace(told, status=Status.ERROR), tasks) is None


def test_a_choice_has_a_count_of_each_member() -> None:
    for members in (2, 3):
        task = Task(3, "choose_ensemble", {"predictions": np.zeros((members, 5))})
        found = fault_of(replace(DONE, result=CHOSEN), {3: task})
        assert (found is None) == (members == 2)
    assert str(found).endswith("'choose_ensemble': 2 counts of 3 members")


class Altering(InlineExecutor):
    """Loses a part of the result of the final fit."""

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        lost = {"held_out_rows": None}
        found = super().wait(timeout)
        return [
            replace(one, result=lost) if lost.keys() <= one.result.keys() else one for one in found
        ]


def test_an_altered_final_fit_is_an_error_in_one_line(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    search = AutoMLRegressor("tiny", max_evaluations=1, executor=Altering, work_dir=tmp_path / "r")
    with pytest.raises(PluginError, match="with a wrong result of the task 'refit'"):
        search.fit(X[:, :2], X.sum(axis=1))


@pytest.mark.parametrize(
    ("method", "result", "says"),
    [
        ("fall_back", {"evaluation": {"constraints": [1.0]}}, "1 constraint value for 2 limits"),
        ("fall_back", {"evaluation": SOUND | {"details": {"steps": []}}}, "the details: 'steps'"),
        ("fall_back", {"fit": {"held_out_constraints": [1.0]}}, "1 held_out_constraints for 2"),
        ("choose_ensemble", CHOSEN | {"evaluation": {}}, "0 constraint values for 2 limits"),
        ("assemble", {"costs": [1, 2, 3]}, "3 costs for 2 limits"),
    ],
)
def test_a_fit_has_a_value_of_each_limit(method: str, result: dict[str, Any], says: str) -> None:
    whole = {"evaluation": SOUND, "fit": {}, "rows": 5} | result
    found = fault_of(replace(DONE, result=whole), {3: Task(3, method, {})}, limits=2)
    assert says in str(found)


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("fall_back", {"evaluation": SOUND, "fit": {"costs": [1.0, 2.0]}, "rows": 5}),
        ("choose_ensemble", CHOSEN | {"evaluation": SOUND}),
        ("assemble", {"held_out_constraints": [1.0, 2.0]}),
    ],
)
def test_a_fit_with_a_value_of_each_limit_is_sound(method: str, result: dict[str, Any]) -> None:
    told = replace(DONE, result=result)
    assert fault_of(told, {3: Task(3, method, {})}, limits=2) is None


def test_only_what_the_run_has_killed_is_cancelled() -> None:
    told = Finished(3, Status.CANCELLED)
    assert as_agreed(told, killed=(3,)).status is Status.CANCELLED
    assert as_agreed(told, killed=()).status is Status.LOST


class Behind(InlineExecutor):
    """Takes the time of an end by a clock that is behind that of the start."""

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        return [replace(one, seconds=-7.0) for one in super().wait(timeout)]


def test_a_folder_of_an_executor_with_two_clocks_can_be_read(tmp_path: Path) -> None:
    minimize(lambda v: v["x"], SPACE, executor=Behind, max_evaluations=2, work_dir=tmp_path / "r")
    with closing(SqliteStore(tmp_path / "r" / "store.sqlite")) as store:
        assert [one.seconds for one in store.read()] == [0.0, 0.0]
    assert check(tmp_path / "r" / "store.sqlite").problems == ()


class Hot(InlineExecutor):
    """Tells a detail of the second evaluation in a form that no store reads."""

    detail: ClassVar[dict[str, Any]] = {"temperature": "hot"}

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        hot = {"details": self.detail}
        found = super().wait(timeout)
        return [
            replace(one, result={**one.result, **hot}) if one.number == 2 else one for one in found
        ]


PATH = {name: [] for name in ("thresholds", "values", "utilities", "losses", "errors")}
PATH |= {"utility": "accuracy", "group_thresholds": {}}


def test_a_path_may_tell_more_than_is_read() -> None:
    assert wrong_details({"decision_path": PATH | {"note": 5, "title": "mine"}}) == []


@pytest.mark.parametrize(
    "detail",
    [
        {"temperature": "hot"},
        {"steps": []},
        {"scores": "x"},
        {"scores": [10**400]},
        {"folds_left": 0.5},
        {"ended": math.inf},
        {"other_thresholds": [{"threshold": 0.5}]},
        {"decision_path": {**PATH, "thresholds": [0.5]}},
        {"decision_path": {**PATH, "utility": 5}},
    ],
    ids=str,
)
def test_details_that_no_store_reads_are_one_invalid_evaluation(
    detail: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hot, "detail", detail)
    minimize(lambda v: v["x"], SPACE, executor=Hot, max_evaluations=4, work_dir=tmp_path / "r")
    with closing(SqliteStore(tmp_path / "r" / "store.sqlite")) as store:
        found = [one.status.value for one in store.read()]
    assert found == ["success", "invalid", "success", "success"]


class Swapping(InlineExecutor):
    """Swaps the answers of two tasks."""

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        one, other = super().wait(timeout)
        return [replace(one, number=other.number), replace(other, number=one.number)]


@pytest.mark.parametrize("fidelities", [(1.0, 1.0), (1.0, 0.5)], ids=["values", "fidelities"])
def test_answers_that_were_swapped_are_found(
    fidelities: tuple[float, float], tmp_path: Path
) -> None:
    work = BlackBoxWork(lambda values: values["x"], SPACE, ())
    setting = ExecutorSetting(1, None, tmp_path)
    for kind in (InlineExecutor, Swapping):
        dispatch = Dispatcher(kind(work, setting), "executor 'mine'")
        for place, fidelity in enumerate(fidelities):
            # A rough evaluation has the seed of the whole one.
            seed = place if fidelities == (1.0, 1.0) else 0
            candidate = Candidate(Selection(()), (place / 2,), fidelity)
            given = {"candidate": candidate, "seed": seed}
            dispatch.submit(dispatch.make(TaskKind.EVALUATE, given, None))
        if kind is Swapping:
            with pytest.raises(
                PluginError, match=r"^executor 'mine' .* the result of another task"
            ):
                dispatch.wait(0.0)
        else:
            assert [one.result["loss"] for one in dispatch.wait(0.0)] == [0.0, 0.5]
