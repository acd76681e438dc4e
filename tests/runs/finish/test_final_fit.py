from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from automl_admm.core.errors import NoSuccessError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Executor, Finished, Task
from automl_admm.core.space import Candidate, SearchSpace, Selection
from automl_admm.runs.driving.dispatch import Dispatcher
from automl_admm.runs.finish.closing import Closing
from automl_admm.runs.finish.effort import Effort, expected_seconds
from automl_admm.runs.finish.final_fit import refit_best
from automl_admm.runs.finish.passed_over import (
    as_content,
    if_better,
    say_passed_over,
    too_long,
    worse_than_unseen,
)
from automl_admm.search.protocol import SearchProblem

PROBLEM = SearchProblem(
    SearchSpace(), str, (Candidate(Selection(()), ()),), limits=(Limit("size", 2.0),)
)


def evaluation(number: int, loss: float, size: float, fit_seconds: float = 0.1) -> Evaluation:
    return Evaluation(
        number,
        f"k{number}",
        Candidate(Selection(()), (float(number),)),
        Status.SUCCESS,
        loss,
        (size,),
        details={"fit_seconds": fit_seconds},
    )


class Fitting:
    """Fits what it is told to; the candidates in `failing` time out, others have these `sizes`.

    Their losses on their own rows are those `seen`, and `only` has the one class that they give.
    """

    workers = 1

    def __init__(
        self,
        failing: set[float],
        sizes: Mapping[float, float] | None = None,
        seen: Mapping[float, float] | None = None,
        only: Mapping[float, str] | None = None,
    ) -> None:
        self.failing = failing
        self.sizes = sizes or {}
        self.seen = seen or {}
        self.only = only or {}
        self.tasks: list[Task] = []

    def submit(self, task: Task) -> None:
        self.tasks.append(task)

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        task = self.tasks[-1]
        if task.arguments["candidate"].theta[0] in self.failing:
            return [Finished(task.number, Status.TIMEOUT, message="killed after 1 s")]
        name = task.arguments["candidate"].theta[0]
        told = {"costs": (self.sizes.get(name, math.nan),)}
        told["seen_loss"] = self.seen.get(name, math.nan)
        told["one_class"] = self.only.get(name)
        return [Finished(task.number, Status.SUCCESS, {"fit_seconds": 0.1, **told})]

    def kill(self, number: int) -> None: ...

    def close(self) -> None: ...


def dispatcher(executor: Executor) -> Dispatcher:
    return Dispatcher(executor, limits=len(PROBLEM.limits))


def ending_in(seconds: float) -> Closing:
    return Closing(time.monotonic() + seconds)


def expect(found: Evaluation | None) -> float:
    return expected_seconds(Effort(), found)


def test_the_best_within_the_limits_is_fitted() -> None:
    executor = Fitting(set())
    outside, worse, best = evaluation(1, 0.1, 9.0), evaluation(2, 0.4, 1.0), evaluation(3, 0.3, 1.0)
    refit, _ = refit_best(
        PROBLEM, (outside, worse, best), dispatcher(executor), expect, Closing(None)
    )
    assert refit.evaluation == best
    assert refit.passed_over == ()
    assert executor.tasks[0].seconds is None


def test_a_fit_that_hangs_is_ended_without_a_deadline_too() -> None:
    executor, closing = Fitting({1.0}), Closing(None, longest=7.0)
    both = (evaluation(1, 0.1, 1.0), evaluation(2, 0.2, 1.0))
    refit, _ = refit_best(PROBLEM, both, dispatcher(executor), expect, closing)
    assert refit.evaluation.number == 2
    assert [task.seconds for task in executor.tasks] == [7.0, 7.0]


def test_if_it_cannot_be_fitted_the_next_best_is() -> None:
    executor = Fitting({1.0})
    refit, _ = refit_best(
        PROBLEM,
        (evaluation(1, 0.1, 1.0), evaluation(2, 0.2, 1.0)),
        dispatcher(executor),
        expect,
        ending_in(30.0),
    )
    assert refit.evaluation.number == 2
    assert say_passed_over(refit.passed_over) == (
        "Evaluation #1 is better than what ships: it could not be fitted on all rows "
        "(timeout killed after 1 s)."
    )


def test_a_model_outside_the_limits_on_facts_as_fitted_makes_way_for_the_next() -> None:
    grown = Fitting(set(), {1.0: 2.5, 2.0: 1.5})
    first, second = evaluation(1, 0.1, 1.0), evaluation(2, 0.2, 1.0)
    refit, _ = refit_best(PROBLEM, (first, second), dispatcher(grown), expect, ending_in(30.0))
    assert (refit.evaluation.number, refit.evaluation.constraints) == (2, (1.5,))
    assert say_passed_over(refit.passed_over) == (
        "Evaluation #1 is better than what ships: fitted on all rows it is outside the limits "
        "(size <= 2: 2.5)."
    )


def test_a_model_worse_on_its_own_rows_than_out_of_fold_makes_way_for_the_next() -> None:
    """A fit may diverge on all rows, though none did in the folds."""
    ranked = [evaluation(1, 0.1, 1.0), evaluation(2, 0.2, 1.0)]
    executor = Fitting(set(), seen={1.0: 0.4, 2.0: 0.25})
    found, _ = refit_best(PROBLEM, ranked, dispatcher(executor), expect, ending_in(60))
    assert found.evaluation.number == 2
    (passed,) = found.passed_over
    assert passed.reason.endswith("its loss is 0.4, on others it was 0.1")
    # If all went wrong, the best ships all the same.
    executor = Fitting(set(), seen={1.0: 0.4, 2.0: 0.4})
    found, _ = refit_best(PROBLEM, ranked, dispatcher(executor), expect, ending_in(60))
    assert found.evaluation.number == 1
    assert not found.passed_over
    assert found.went_wrong == passed.reason


def test_where_no_model_is_sound_the_better_ones_that_failed_are_named() -> None:
    ranked = [evaluation(number, 0.1 * number, 1.0) for number in (1, 2, 3)]
    executor = Fitting({1.0}, seen={2.0: 0.9, 3.0: 0.9})
    found, _ = refit_best(PROBLEM, ranked, dispatcher(executor), expect, ending_in(60))
    assert found.evaluation.number == 2
    assert found.went_wrong is not None
    assert [one.evaluation.number for one in found.passed_over] == [1]


def test_a_model_that_calls_every_row_the_same_makes_way_for_the_next() -> None:
    ranked = [evaluation(1, 0.1, 1.0), evaluation(2, 0.2, 1.0)]
    executor = Fitting(set(), only={1.0: "no"})
    found, _ = refit_best(PROBLEM, ranked, dispatcher(executor), expect, ending_in(60))
    assert (found.evaluation.number, found.one_class) == (2, None)
    (passed,) = found.passed_over
    assert passed.reason == "fitted on all rows it calls every one of them 'no'"
    # So does the closest of those outside; if all do, the closest ships all the same.
    outside = [evaluation(1, 0.1, 8.0), evaluation(2, 0.2, 9.0)]
    found, _ = refit_best(PROBLEM, outside, dispatcher(executor), expect, ending_in(60))
    assert found.evaluation.number == 2
    executor = Fitting(set(), only={1.0: "no", 2.0: "yes"})
    found, _ = refit_best(PROBLEM, outside, dispatcher(executor), expect, ending_in(60))
    assert (found.evaluation.number, found.one_class) == (1, "no")
    assert found.went_wrong == passed.reason


@pytest.mark.parametrize(
    ("scores", "seen_loss", "is_worse"),
    [((0.9, 0.9), 0.19, False), ((0.9, 0.9), 0.21, True), ((0.8, 1.0), 0.45, False)],
    ids=["a little", "clearly", "within the noise of the folds"],
)
def test_a_loss_on_its_own_rows_is_worse_by_more_than_half_and_noise(
    scores: tuple[float, ...], seen_loss: float, is_worse: bool
) -> None:
    one = replace(evaluation(1, 0.1, 1.0), details={"scores": scores})
    assert (worse_than_unseen(one, seen_loss) is not None) == is_worse
    assert worse_than_unseen(one, math.nan) is None
    # Rounding on its own rows is no fault of a perfect model.
    assert worse_than_unseen(replace(one, loss=0.0), 1e-16) is None


def test_if_all_are_outside_as_fitted_the_closest_ships_as_it_is() -> None:
    grown = Fitting(set(), {1.0: 9.0, 2.0: 2.5})
    first, second = evaluation(1, 0.1, 1.0), evaluation(2, 0.2, 1.0)
    refit, _ = refit_best(PROBLEM, (first, second), dispatcher(grown), expect, ending_in(30.0))
    assert (refit.evaluation.number, refit.evaluation.constraints) == (2, (2.5,))


def test_what_the_time_does_not_allow_is_not_tried() -> None:
    executor = Fitting({1.0})
    slow, quick = evaluation(2, 0.2, 1.0, fit_seconds=60.0), evaluation(3, 0.9, 1.0)
    refit, _ = refit_best(
        PROBLEM,
        (evaluation(1, 0.1, 1.0), slow, quick),
        dispatcher(executor),
        expect,
        ending_in(0.5),
    )
    assert refit.evaluation == quick
    assert len(executor.tasks) == 2


def test_a_fit_that_is_too_long_is_not_even_begun() -> None:
    executor = Fitting(set())
    slow, quick = evaluation(1, 0.1, 1.0, fit_seconds=60.0), evaluation(2, 0.9, 1.0)
    refit, _ = refit_best(PROBLEM, (slow, quick), dispatcher(executor), expect, ending_in(0.5))
    assert refit.evaluation == quick
    assert len(executor.tasks) == 1
    told = r"#1 is better .* was expected to take up to \d\d\.\d s, and 0\.\d s were left\.$"
    assert re.search(told, str(say_passed_over(refit.passed_over)))


def test_what_was_passed_over_counts_only_while_it_ranks_before_what_ships() -> None:
    passed, limits = too_long(evaluation(1, 0.2, 1.0), 9.0, 1.0), PROBLEM.limits
    assert if_better([passed], evaluation(2, 0.3, 1.0), limits) == (passed,)
    assert if_better([passed], evaluation(2, 0.1, 9.0), limits) == (passed,)
    assert if_better([passed], evaluation(2, 0.1, 1.0), limits) == ()
    assert if_better([passed], passed.evaluation, limits) == ()
    assert if_better([], passed.evaluation, limits) == ()


def test_all_that_rank_before_what_ships_are_told_best_first() -> None:
    failing = Fitting({1.0, 3.0})
    slow = [evaluation(number, number / 10, 1.0, fit_seconds=60.0) for number in (4, 2, 5)]
    failed = [evaluation(3, 0.3, 1.0), evaluation(1, 0.1, 1.0)]
    refit, _ = refit_best(
        PROBLEM,
        (*slow, *failed, evaluation(6, 0.6, 1.0), evaluation(7, 0.7, 1.0, fit_seconds=60.0)),
        dispatcher(failing),
        expect,
        ending_in(3.5),
    )
    assert refit.evaluation.number == 6
    assert [one.evaluation.number for one in refit.passed_over] == [1, 2, 3, 4, 5]
    said = say_passed_over(refit.passed_over)
    assert said is not None
    assert said.startswith("Evaluation #1 is better than what ships: it could not be fitted")
    assert said.endswith(
        "#3 (it could not be fitted on all rows (timeout killed after 1 s)), 2 more."
    )
    content = as_content(refit.passed_over)
    assert content is not None
    assert [one["evaluation"] for one in content["others"]] == [2, 3, 4, 5]


def test_with_no_time_for_any_the_quickest_is_tried() -> None:
    slow, quick = evaluation(1, 0.1, 1.0, fit_seconds=60.0), evaluation(2, 0.9, 1.0, 30.0)
    refit, _ = refit_best(
        PROBLEM, (slow, quick), dispatcher(Fitting(set())), expect, ending_in(-4.0)
    )
    assert refit.evaluation == quick


def test_if_nothing_can_be_fitted_it_says_why() -> None:
    with pytest.raises(NoSuccessError, match="timeout killed after 1 s"):
        refit_best(
            PROBLEM,
            (evaluation(1, 0.1, 1.0),),
            dispatcher(Fitting({1.0})),
            expect,
            ending_in(30.0),
        )
