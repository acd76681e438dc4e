"""The model of a pipeline: its fit on all rows, or its fold models, by the time and the limits."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Finished, Task
from automl_admm.data.row_roles import NO_ROLES
from automl_admm.pipelines.ensembles.fold_models import MODELS
from automl_admm.runs.driving.budget import Ledger
from automl_admm.runs.finish.effort import Effort, expected_of_folds
from automl_admm.runs.finish.final_fit import Fitter, Press, Refit, refit_best
from automl_admm.runs.finish.kept_model import is_better
from automl_admm.runs.finish.kept_models import MOST_FILES, KeptModels
from automl_admm.runs.finish.of_folds import ASKED, OfFolds
from automl_admm.runs.finish.passed_over import PassedOver
from automl_admm.runs.finish.ways import FoldWays, Ways
from tests.runs.finish.test_final_fit import (
    PROBLEM,
    Fitting,
    dispatcher,
    ending_in,
    evaluation,
    expect,
)

SLOW = evaluation(1, 0.1, 1.0, fit_seconds=60.0)
QUICK = evaluation(2, 0.9, 1.0)
ROWS = np.arange(8)
FOLDS = ((ROWS[2:], ROWS[:2]), (ROWS[:6], ROWS[6:]))


def kept_models(folder: Path, *evaluations: Evaluation) -> KeptModels:
    kept = KeptModels(folder / "models", PROBLEM.limits)
    for one in evaluations:
        place = folder / f"task-{one.number}"
        place.mkdir()
        (place / MODELS).write_bytes(one.key.encode())
        told = hashlib.sha256(one.key.encode()).hexdigest()
        kept.keep(one, Finished(9, Status.SUCCESS, {"files": {MODELS: told}}, folder=place))
    return kept


def test_models_of_a_removed_run_are_not_told_and_bring_no_folder_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Tell nothing: the log of the run says in one line that its folder was removed."""
    kept = KeptModels(tmp_path / "run" / "models", PROBLEM.limits)
    gone = tmp_path / "run" / "task-1"
    kept.keep(QUICK, Finished(9, Status.SUCCESS, {"files": {MODELS: "0"}}, folder=gone))
    assert not kept.has(QUICK)
    assert not gone.parent.exists()
    assert not caplog.messages


def test_models_that_are_missing_in_a_run_that_is_there_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "task-1").mkdir()
    told = {"files": {MODELS: "0"}}
    kept = KeptModels(tmp_path / "models", PROBLEM.limits)
    kept.keep(QUICK, Finished(9, Status.SUCCESS, told, folder=tmp_path / "task-1"))
    assert not kept.has(QUICK)
    (message,) = caplog.messages
    assert message.startswith("the fold models of evaluation 2: ")


@pytest.mark.parametrize("files", [5, "models", [1]], ids=str)
def test_nothing_is_looked_for_in_the_result_of_what_cannot_ship(
    files: object, tmp_path: Path
) -> None:
    """An evaluation is invalid by such a result of an executor; it ended the run."""
    kept = KeptModels(tmp_path / "models", PROBLEM.limits)
    invalid = replace(QUICK, status=Status.INVALID)
    kept.keep(invalid, Finished(9, Status.SUCCESS, {"files": files}, folder=tmp_path))
    assert not kept.has(invalid)


def ways_of(
    kept: KeptModels,
    refit: str = "auto",
    *,
    adds_up: bool = False,
    needs_unseen: bool = False,
    aside: Any = None,
    splits: Any = FOLDS,
    limit: Limit = PROBLEM.limits[0],
) -> FoldWays:
    prepared: Any = SimpleNamespace(
        config=SimpleNamespace(refit=refit),
        work=SimpleNamespace(splits=splits, table=SimpleNamespace(roles=NO_ROLES, y=ROWS)),
        constraints=(
            SimpleNamespace(
                adds_up=adds_up, needs_unseen=needs_unseen, limit=limit, kind="statistical"
            ),
        ),
        aims=(limit,),
        aside=aside,
    )
    return FoldWays(
        prepared, kept, lambda one, is_kept: expected_of_folds(Effort(), 2, one, is_kept)
    )


def done(
    ways: FoldWays, seconds: float, executor: Fitting | None = None, *more: Evaluation
) -> tuple[Refit, list[Task]]:
    executor = executor or Fitting(set())
    refit, _ = refit_best(
        PROBLEM, (SLOW, QUICK, *more), dispatcher(executor), expect, ending_in(seconds), ways
    )
    return refit, executor.tasks


@pytest.mark.parametrize(
    ("best", "is_kept", "others", "leaves"),
    [
        (QUICK, True, (), True),
        (QUICK, False, (replace(QUICK, number=3, key="k3", loss=0.95),), True),
        (QUICK, False, (), False),  # there is nothing to leave time for
        (SLOW, True, (), False),  # nobody knows if it hangs
        (QUICK, False, (replace(SLOW, key="k3", loss=0.95),), False),  # never in the time left
        (QUICK, False, (replace(QUICK, key="k3", constraints=(9.0,)),), False),  # never ships
    ],
    ids=["fold models", "another pipeline", "alone", "slow", "other is slow", "other is outside"],
)
def test_a_fit_that_may_hang_leaves_time_for_another_way(
    best: Evaluation, is_kept: bool, others: tuple[Evaluation, ...], leaves: bool, tmp_path: Path
) -> None:
    executor, ways = Fitting(set()), ways_of(kept_models(tmp_path, *([best] if is_kept else [])))
    refit_best(PROBLEM, (best, *others), dispatcher(executor), expect, ending_in(100.0), ways)
    (seconds,) = [one.seconds for one in executor.tasks]
    assert seconds is not None
    assert (seconds < 99.0) == leaves
    assert seconds > 90.0


def test_the_last_way_has_all_the_time(tmp_path: Path) -> None:
    """Time is kept for what was not tried, and not for what has failed already."""
    executor, second = Fitting({2.0}), replace(evaluation(3, 0.95, 1.0), key="k3")
    ways = ways_of(kept_models(tmp_path))
    refit_best(PROBLEM, (QUICK, second), dispatcher(executor), expect, ending_in(100.0), ways)
    first, last = (one.seconds or 0.0 for one in executor.tasks)
    assert first < 99.0 < last


def test_fold_models_of_the_best_ship_where_only_these_are_in_time(tmp_path: Path) -> None:
    refit, (task,) = done(ways_of(kept_models(tmp_path, SLOW)), 5.0)
    assert (task.method, task.arguments["models"]) == ("fit_folds", b"k1")
    assert refit.evaluation == SLOW
    assert refit.passed_over == ()
    told = r"the mean of 2 fold models: its final fit was expected to take up to 9\d\.\d s, and"
    assert re.match(told, str(refit.of_folds))
    assert refit.learned_rows == 8


@pytest.mark.parametrize(("refit", "is_kept"), [("whole", True), ("auto", False)])
def test_without_them_the_next_best_in_time_ships(
    refit: str, is_kept: bool, tmp_path: Path
) -> None:
    ways = ways_of(kept_models(tmp_path, *([SLOW] if is_kept else [])), refit)
    found, (task,) = done(ways, 5.0)
    assert task.method == "refit"
    assert found.evaluation == QUICK
    assert [one.evaluation for one in found.passed_over] == [SLOW]
    assert found.of_folds is None


def test_with_time_for_it_the_fit_on_all_rows_ships(tmp_path: Path) -> None:
    refit, (task,) = done(ways_of(kept_models(tmp_path, SLOW)), 500.0)
    assert (task.method, refit.evaluation, refit.of_folds) == ("refit", SLOW, None)


def test_after_a_failed_fit_on_all_rows_the_fold_models_ship(tmp_path: Path) -> None:
    class Half(Fitting):
        def wait(self, timeout: float | None = None) -> Sequence[Finished]:
            self.failing = {1.0} if self.tasks[-1].method == "refit" else set()
            return super().wait(timeout)

    refit, tasks = done(ways_of(kept_models(tmp_path, SLOW)), 500.0, Half(set()))
    assert [task.method for task in tasks[:2]] == ["refit", "fit_folds"]
    assert "it could not be fitted on all rows (timeout killed after 1 s)" in str(refit.of_folds)


def test_asked_for_they_ship_with_time_for_anything_and_are_fitted_if_not_kept(
    tmp_path: Path,
) -> None:
    refit, (task,) = done(ways_of(kept_models(tmp_path), "folds"), 500.0)
    assert (task.method, task.arguments["models"]) == ("fit_folds", None)
    assert str(refit.of_folds) == "the mean of 2 fold models, as asked"


def test_asked_for_and_failed_the_fit_on_all_rows_ships_and_a_line_says_so(
    tmp_path: Path, caplog: Any
) -> None:
    class Half(Fitting):
        def wait(self, timeout: float | None = None) -> Sequence[Finished]:
            self.failing = {1.0} if self.tasks[-1].method == "fit_folds" else set()
            return super().wait(timeout)

    refit, _ = done(ways_of(kept_models(tmp_path), "folds"), 500.0, Half(set()))
    assert (refit.evaluation, refit.of_folds) == (SLOW, None)
    (line,) = caplog.messages
    assert line.startswith("the fold models of evaluation 1 do not ship: timeout killed")


def test_costs_that_add_up_beyond_a_limit_are_not_tried(tmp_path: Path, caplog: Any) -> None:
    kept, costly = kept_models(tmp_path, SLOW), Limit("size", 1.5)
    refit, _ = done(ways_of(kept, adds_up=True, limit=costly), 5.0)
    assert refit.evaluation == QUICK
    assert not caplog.messages
    refit, (task,) = done(ways_of(kept, "folds", adds_up=True, limit=costly), 500.0)
    assert (task.method, refit.evaluation) == ("refit", SLOW)
    assert "together they would break size <= 1.5" in caplog.messages[0]
    refit, _ = done(ways_of(kept, adds_up=True), 5.0)
    assert refit.of_folds is not None


@pytest.mark.parametrize("aside", [None, "rows"])
def test_within_a_limit_that_needs_unseen_rows_the_mean_of_them_does_not_ship(
    aside: Any, tmp_path: Path, caplog: Any
) -> None:
    """Rows set aside would test it: a run that ends without a test has none."""
    kept = kept_models(tmp_path, SLOW)
    refit, _ = done(ways_of(kept, needs_unseen=True, aside=aside), 5.0)
    assert refit.evaluation == QUICK
    assert not caplog.messages
    refit, (task,) = done(ways_of(kept, "folds", needs_unseen=True, aside=aside), 500.0)
    assert (task.method, refit.evaluation) == ("refit", SLOW)
    (line,) = caplog.messages
    said = "the fold models of evaluation 1 do not ship: limit 'size' needs rows from which no"
    assert line == f"{said} member learned"


def test_rows_set_aside_test_fold_models_and_one_alone_has_rows_of_its_own(tmp_path: Path) -> None:
    kept = kept_models(tmp_path, SLOW)
    tested = ways_of(kept, needs_unseen=True, aside="rows")
    alone = ways_of(kept, needs_unseen=True, splits=FOLDS[:1])
    assert tested.is_wanted
    assert tested.of(SLOW) is not None
    assert alone.of(SLOW) is not None


def test_what_is_outside_a_limit_as_it_ships_does_not_ship(tmp_path: Path, caplog: Any) -> None:
    class Large(Fitting):
        def wait(self, timeout: float | None = None) -> Sequence[Finished]:
            (one,) = super().wait(timeout)
            costs = {"costs": [3.0]} if self.tasks[-1].method == "fit_folds" else {}
            return [replace(one, result={**one.result, **costs})]

    refit, tasks = done(ways_of(kept_models(tmp_path, SLOW)), 5.0, Large(set()))
    assert [task.method for task in tasks] == ["fit_folds", "refit"]
    assert refit.evaluation == QUICK
    assert "together they are outside the limits (size <= 2: 3)" in caplog.messages[0]


def test_fold_models_of_few_of_the_rows_are_no_match_for_a_fit_on_all(tmp_path: Path) -> None:
    few = ((ROWS[:3], ROWS[3:5]),)
    refit, _ = done(ways_of(kept_models(tmp_path, SLOW), splits=few), 5.0)
    assert refit.evaluation == QUICK


def test_only_the_best_are_kept_and_damaged_ones_do_not_ship(tmp_path: Path, caplog: Any) -> None:
    more = [evaluation(number, number / 10, 1.0) for number in (5, 4, 3)]
    kept = kept_models(tmp_path, SLOW, *more)
    assert [kept.has(one) for one in (SLOW, more[2], *more[:2])] == [True, True, False, False]
    files = list((tmp_path / "models").rglob(MODELS))
    assert len(files) == MOST_FILES
    assert kept.read(SLOW) == b"k1"
    (tmp_path / "models" / "1" / MODELS).write_bytes(b"another")
    refit, _ = done(ways_of(kept), 5.0)
    assert refit.evaluation == QUICK
    assert "the fold models of evaluation 1 are lost" in caplog.messages[0]
    assert not kept.has(SLOW)


def test_the_first_fit_of_a_walk_takes_the_quickest_way(tmp_path: Path) -> None:
    executor = Fitting(set())
    press = Press(PROBLEM, dispatcher(executor), ending_in(0.0))
    fitter = Fitter(press, Ways(expect, ways_of(kept_models(tmp_path, SLOW))), Ledger())
    assert fitter.expect(SLOW) < expect(SLOW)
    assert isinstance(fitter.fit(SLOW, anyway=True), Finished)
    assert executor.tasks[0].method == "fit_folds"
    assert fitter.of_folds["k1"].models == 2
    later = fitter.fit(evaluation(7, 0.1, 1.0, fit_seconds=60.0), anyway=False)
    assert isinstance(later, PassedOver)
    assert len(executor.tasks) == 1


def test_an_earlier_fit_on_all_rows_stays_before_fold_models_of_its_pipeline() -> None:
    session: Any = SimpleNamespace(prepared=SimpleNamespace(limits=PROBLEM.limits))
    late, asked = (OfFolds(2, 8, 8, reason) for reason in ("there was no time", ASKED))
    whole, makeshift = Refit(SLOW), Refit(SLOW, of_folds=late)
    assert is_better(whole, makeshift, session)
    assert not is_better(makeshift, whole, session)
    assert not is_better(makeshift, makeshift, session)
    assert not is_better(whole, Refit(SLOW, of_folds=asked), session)
    assert is_better(makeshift, Refit(QUICK), session)
