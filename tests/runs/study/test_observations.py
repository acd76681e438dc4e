"""Results from elsewhere: every source that `add_observations` takes, and what it refuses."""

# ruff: noqa: PD011 - `values` are those of a trial, not of a frame
from __future__ import annotations

import math
import pickle
import shutil
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from automl_admm import Choice, Condition, Parameter, SearchSpace, Study, minimize
from automl_admm.core.errors import ConfigurationError, StoreError

SPACE = SearchSpace(
    (Choice("shape", ("round", "flat")),),
    (
        Parameter("x", 0.0, 1.0),
        Parameter("k", 1, 5, kind="int", when=Condition("shape", ("flat",))),
    ),
)
QUICK: dict[str, Any] = {"theta_solver": "random", "z_solver": "random", "random_state": 0}
ROWS = [
    {"shape": "round", "x": 0.25, "loss": 0.5, "size": 3.0},
    {"shape": "flat", "x": 0.5, "k": 2, "loss": 0.25, "size": 9.0},
    {"shape": "flat", "x": 0.75, "k": 3, "loss": None},
]


def study(**given: Any) -> Study:
    return Study(SPACE, **{"constraints": ["size <= 4"], **QUICK, **given})


def told(one: Study) -> list[tuple[Any, ...]]:
    return [(r.values["x"], r.failed or r.loss, r.limits.get("size")) for r in one.results]


EXPECTED = [(0.25, 0.5, 3.0), (0.5, 0.25, 9.0), (0.75, "no loss", None)]


def _of_polars(rows: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(rows)


@pytest.mark.parametrize("form", [list, pd.DataFrame, _of_polars], ids=["dicts", "frame", "polars"])
def test_rows_are_added_once_and_free_of_charge(form: Any) -> None:
    one = study(max_evaluations=2)
    assert one.add_observations(form(ROWS)) == 3
    assert one.add_observations(form(ROWS)) == 0
    assert told(one) == EXPECTED
    assert one.best is not None
    assert (one.best.values["x"], one.best.feasible) == (0.25, True)
    assert len(one.ask(5)) == 2
    assert one.ended == "evaluations"


def test_the_search_begins_at_the_best_that_is_known() -> None:
    rows = [{"shape": "flat", "x": 0.9, "k": 5, "loss": -9.0, "size": 1.0}]
    one = study(warm_start=rows, strategy="admm", theta_solver="gp")
    for trial in one.ask(6):
        one.tell(trial, abs(trial.values["x"] - 0.9), {"size": 1.0})
    while one.admm_state is None:
        trial = one.ask()
        assert trial is not None
        one.tell(trial, abs(trial.values["x"] - 0.9), {"size": 1.0})
    assert one.admm_state.incumbent is not None
    assert one.admm_state.incumbent.loss == -9.0


def test_results_go_from_one_study_to_another(tmp_path: Path) -> None:
    with study(work_dir=tmp_path / "s") as first:
        first.add_observations(ROWS)
        beside = study()
        assert beside.add_observations(first) == 3
        assert beside.add_observations(tmp_path / "s") == 0
    again = study()
    assert again.add_observations(str(tmp_path / "s")) == 3
    assert told(again) == told(beside) == EXPECTED
    # Added in the middle of a search, they are there after a kill, too.
    with study(work_dir=tmp_path / "t", max_evaluations=6) as second:
        second.ask(2)
        second.add_observations(ROWS)
        second.ask(2)
        asked = second.pending
    with Study.load(tmp_path / "t") as second:
        assert second.pending == asked
        assert told(second) == EXPECTED
        assert len(second.ask(9)) == 6


def test_a_result_of_minimize_is_a_source() -> None:
    def weigh(values: dict[str, Any]) -> dict[str, float]:
        return {"loss": float(values["x"]), "size": 1.0}

    result = minimize(weigh, SPACE, constraints=["size <= 4"], max_evaluations=5, **QUICK)
    one = study()
    assert one.add_observations(result) == 5
    assert one.best is not None
    assert one.best.loss == result.loss


def test_a_result_with_a_limit_on_each_side_is_a_source() -> None:
    limits = ["size >= 1", "size <= 4"]

    def weigh(values: dict[str, Any]) -> dict[str, float]:
        return {"loss": float(values["x"]), "size": 5 * float(values["x"])}

    result = minimize(weigh, SPACE, constraints=limits, max_evaluations=5, **QUICK)
    for source in (result, pickle.loads(pickle.dumps(result))):
        one = study(constraints=limits)
        assert one.add_observations(source) == 5
        assert {trial.limits["size"] == 5 * trial.values["x"] for trial in one.results} == {True}


SHAPES = SearchSpace((Choice("shape", ("round", "flat", "long")),))
LOSSES = {"round": 3.0, "flat": 2.0, "long": 1.0}


@pytest.mark.parametrize("is_folder", [False, True], ids=["result", "folder"])
def test_an_evaluation_that_was_cut_short_is_no_result(is_folder: bool, tmp_path: Path) -> None:
    begun = tmp_path / "begun"

    def hang(values: dict[str, Any]) -> float:
        if values["shape"] == "long":
            begun.touch()
            time.sleep(60)
        return LOSSES[values["shape"]]

    cut_short = minimize(
        hang,
        SHAPES,
        starts=[{"shape": "round"}, {"shape": "long"}],
        executor="local",
        cancel=begun.exists,
        work_dir=tmp_path / "s",
        **QUICK,
    )
    assert [one.status.value for one in cut_short.evaluations] == ["success", "cancelled"]
    source = tmp_path / "s" if is_folder else cut_short
    one = Study(SHAPES, warm_start=source, **QUICK)
    assert [result.values for result in one.results] == [{"shape": "round"}]
    found = minimize(lambda v: LOSSES[v["shape"]], SHAPES, warm_start=source, **QUICK)
    assert found.best == {"shape": "long"}


def test_a_rough_answer_is_no_result_in_a_folder_and_in_an_object(tmp_path: Path) -> None:
    options = QUICK | {"z_solver": "halving", "min_fidelity": 0.1}
    with Study(SHAPES, work_dir=tmp_path / "s", **options) as rough:
        trial = rough.ask()
        while trial is not None and trial.fidelity == 1.0:
            rough.tell(trial, LOSSES[trial.values["shape"]])
            trial = rough.ask()
        assert trial is not None
        rough.tell(trial, failed="too few rows")
        whole = [one.values for one in rough.results if one.fidelity == 1.0]
        assert len(whole) < len(rough.results)
        for source in (rough, tmp_path / "s"):
            taken = Study(SHAPES, warm_start=source, **QUICK)
            assert [one.values for one in taken.results] == whole


def test_an_optuna_study_is_a_source() -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    other = optuna.create_study()
    for row in ROWS:
        trial = other.ask()
        trial.suggest_categorical("shape", ["round", "flat"])
        trial.suggest_float("x", 0.0, 1.0)
        if trial.params["shape"] == "flat":
            trial.suggest_int("k", 1, 5)
        if row["loss"] is None:
            other.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            trial.set_user_attr("size", row["size"])
            trial.set_user_attr("note", "not a limit")
            other.tell(trial, row["loss"])
    other.ask()  # one that runs is no result
    one = study()
    assert one.add_observations(other) == 3
    assert [(r.loss, r.limits) for r in one.results[:2]] == [
        (0.5, {"size": 3}),
        (0.25, {"size": 9}),
    ]
    assert one.results[2].failed == "it failed in Optuna"
    for result, trial in zip(one.results, other.get_trials()[:3], strict=True):
        assert result.values == {**trial.params, "x": pytest.approx(trial.params["x"], abs=1e-5)}
    with pytest.raises(ConfigurationError, match="does not minimise one value"):
        one.add_observations(optuna.create_study(direction="maximize"))


def test_a_runhistory_of_smac_is_a_source() -> None:
    pytest.importorskip("smac")
    from ConfigSpace import Categorical as Category
    from ConfigSpace import ConfigurationSpace, EqualsCondition, Float, Integer
    from smac.runhistory import RunHistory, StatusType

    space = ConfigurationSpace()
    shape, x, k = Category("shape", ["round", "flat"]), Float("x", (0, 1)), Integer("k", (1, 5))
    space.add(shape, x, k)
    space.add(EqualsCondition(k, shape, "flat"))
    history = RunHistory()
    configs = space.sample_configuration(3)
    for seed, cost in ((0, 1.0), (1, 2.0)):
        history.add(configs[0], cost, additional_info={"size": cost}, seed=seed)
    history.add(configs[1], 9.0, status=StatusType.CRASHED)
    history.add(configs[2], 9.0, status=StatusType.RUNNING)
    one = study()
    assert one.add_observations(history) == 2
    first, second = one.results
    assert (first.loss, first.limits, first.values["shape"]) == (
        1.5,
        {"size": 1.5},
        configs[0]["shape"],
    )
    assert second.failed == "it failed in SMAC"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"x": 0.5, "loss": 1, "size": 1}], "row 0: the point has no 'shape'"),
        ([ROWS[0] | {"x": 1.5}], "row 0: 'x' must be from 0 to 1, not 1.5"),
        ([ROWS[0], ROWS[0] | {"seconds": 1}], "row 1: no decision or parameter named 'seconds'"),
        ([ROWS[0] | {"loss": "low"}], "the loss of row 0 must be a number, not 'low'"),
        ([{"shape": "round", "x": 0.5, "loss": 1}], "row 0 has no value for the limit 'size'"),
        ([{"shape": "round", "x": 0.5}], "row 0 has no 'loss'"),
        ([3], "row 0 must be a dict, not 3"),
        (ROWS[0], "holds no observations"),
        ("nowhere", "'nowhere' holds no study.json"),
    ],
)
def test_a_wrong_source_is_told_in_one_line_and_adds_nothing(rows: Any, words: str) -> None:
    one = study()
    with pytest.raises((ConfigurationError, StoreError)) as problem:
        one.add_observations(rows)
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)
    assert one.results == ()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a `minimize` over `SPACE`."""
    place = tmp_path_factory.mktemp("kept") / "run"
    minimize(_measure, SPACE, constraints=["size <= 4"], max_evaluations=4, work_dir=place, **QUICK)
    return place


def _measure(values: dict[str, Any]) -> dict[str, float]:
    return {"loss": float(values["x"]), "size": 1.0}


def test_the_folder_of_a_minimize_is_a_source_and_costs_nothing(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    found = minimize(
        _measure,
        SPACE,
        constraints=["size <= 2"],
        max_evaluations=2,
        warm_start=folder,
        **QUICK,
    )
    assert len(found.evaluations) == 6
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def _narrow(upper: float) -> SearchSpace:
    return SearchSpace(SPACE.decisions, (Parameter("x", 0.0, upper), *SPACE.parameters[1:]))


@pytest.mark.parametrize(
    ("space", "limits", "words"),
    [
        (_narrow(1e-6), ["size <= 4"], "'x' must be from 0 to 1e-06, not"),
        (SearchSpace((), (Parameter("y", 0.0, 1.0),)), ["size <= 4"], "no decision or parameter"),
        (SPACE, ["size <= 4", "cost <= 1"], "has no value for the limit 'cost'"),
        (SPACE, [], "no limit named 'size'"),
    ],
)
def test_a_folder_of_another_problem_is_refused_before_any_call(
    space: SearchSpace, limits: list[str], words: str, folder: Path
) -> None:
    called: list[Any] = []
    with pytest.raises(ConfigurationError) as problem:
        minimize(called.append, space, constraints=limits, warm_start=folder, **QUICK)
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)
    assert called == []


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("study.json", b"{", "study.json' cannot be read"),
        ("study.json", None, "holds no study.json"),
        ("store.sqlite", None, "store.sqlite' is damaged: it is gone, and held 4 evaluations"),
        ("store.sqlite", b"", "store.sqlite' is damaged: it is empty"),
        ("store.sqlite", b"x" * 5000, "store.sqlite' is damaged: file is not a database"),
    ],
)
def test_a_damaged_folder_is_refused_in_a_line(
    file: str, content: bytes | None, words: str, folder: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    (copy / file).unlink()
    if content is not None:
        (copy / file).write_bytes(content)
    with pytest.raises(StoreError) as problem:
        study(warm_start=copy)
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


ALIKE: tuple[Any, ...] = (1, 1.0, True, "1", 0.0, -0.0, math.nan, None)


@pytest.mark.parametrize("is_choice", [True, False], ids=["choice", "parameter"])
@pytest.mark.parametrize("place", range(len(ALIKE)))
def test_a_value_is_not_taken_for_an_equal_one_beside_it(
    is_choice: bool, place: int, tmp_path: Path
) -> None:
    # One column of features is 1, and all of them are 1.0.
    value = ALIKE[place]
    labels = tuple(f"value {number}" for number in range(len(ALIKE)))
    last = len(ALIKE) - 1
    space = (
        SearchSpace(decisions=(Choice("n", labels, values=ALIKE),))
        if is_choice
        else SearchSpace(parameters=(Parameter("n", 0, last, kind="category", values=ALIKE),))
    )
    begun = Study(space, random_state=0, starts=[{"n": value}], work_dir=tmp_path / "s")
    enqueued = Study(space, random_state=0)
    enqueued.enqueue({"n": value})
    for one in (begun, enqueued):
        trial = one.ask()
        assert trial is not None
        assert repr(trial.values) == repr({"n": value})
        one.tell(trial, 0.5)
    begun.close()
    frame = pd.DataFrame({"n": [value], "loss": 0.5}, dtype=object)
    for source in (enqueued, tmp_path / "s", [{"n": value, "loss": 0.5}], frame):
        taken = Study(space, random_state=0, warm_start=source)
        assert [repr(result.values["n"]) for result in taken.results] == [repr(value)]


@pytest.mark.parametrize("form", [list, pd.DataFrame, _of_polars], ids=["dicts", "frame", "polars"])
@pytest.mark.parametrize("empty", [None, math.nan], ids=str)
@pytest.mark.parametrize("value", [None, math.nan], ids=str)
def test_an_empty_cell_of_what_is_not_active_is_left_out(form: Any, empty: Any, value: Any) -> None:
    space = SearchSpace(
        (
            Choice("m", ("a", "b")),
            Choice("n", ("no", "one"), when=Condition("m", ("a",)), values=(value, 1.0)),
        )
    )
    rows = [{"m": "b", "n": empty, "loss": 0.1}, {"m": "a", "n": 1.0, "loss": 0.2}]
    taken = Study(space, random_state=0, warm_start=form(rows))
    assert [result.values for result in taken.results] == [{"m": "b"}, {"m": "a", "n": 1.0}]


@pytest.mark.parametrize("form", [pd.DataFrame, _of_polars], ids=["frame", "polars"])
def test_a_column_that_made_floats_of_whole_numbers_is_refused_where_both_are_values(
    form: Any,
) -> None:
    space = SearchSpace(decisions=(Choice("n", ("one", "all"), values=(1, 1.0)),))
    with pytest.raises(ConfigurationError, match="the column 'n' is of floats"):
        Study(space, warm_start=form([{"n": 1.0, "loss": 0.1}, {"n": 1.0, "loss": 0.2}]))


def test_an_equal_number_of_another_type_is_taken_where_it_is_alone() -> None:
    space = SearchSpace(decisions=(Choice("n", ("one", "two"), values=(1, 2)),))
    taken = Study(space, random_state=0, warm_start=pd.DataFrame({"n": [2.0], "loss": [0.5]}))
    assert [result.values for result in taken.results] == [{"n": 2}]
