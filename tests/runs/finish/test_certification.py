from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from automl_admm.certify.bounds.row_counts import stretch
from automl_admm.certify.plan.power import half_width
from automl_admm.certify.walk.looks import Look, take_look
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.evidence import Evidence, Fact, Gap, Rate
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Finished
from automl_admm.core.space import Candidate
from automl_admm.execution.evidence_files import FILES, encode_evidence, hash_files
from automl_admm.pipelines.shipping import EVIDENCE
from automl_admm.pipelines.thresholds.by_group import Thresholds
from automl_admm.pipelines.thresholds.path import PATH, DecisionPath, Stop
from automl_admm.plugins.records import Constraint
from automl_admm.runs.finish.certification import Examined, Untested, examine
from automl_admm.runs.finish.contenders import contend
from automl_admm.runs.finish.passed_over import PassedOver, say_passed_over, too_long
from automl_admm.runs.prepare.set_aside import (
    Aside,
    Question,
    aim,
    at_look,
    default_ledger,
    plan_aside,
)

FPR = Constraint(Limit("fpr", 0.10, extreme=0.0), lambda _: 0.0, kind="statistical")
COST = Constraint(Limit("latency_us", 50.0, extreme=0.0), lambda _: 0.0)
SIZE = Constraint(Limit("size_mb", 5.0, extreme=0.0), lambda _: 0.0, kind="checked")
MIDDLING = Rate(200, 2000, "negative rows")
LOOK = Look.of(1, 0.05)


def aside(*examples: Evidence | None, fraction: float = 0.25) -> Aside:
    return Aside(0.95, fraction, examples)


def evaluation(key: str, loss: float, *constraints: float) -> Evaluation:
    return Evaluation(1, key, Candidate((), ()), Status.SUCCESS, loss, constraints)


def numbered(number: int, *given: Any) -> Evaluation:
    return replace(evaluation(*given), number=number)


def question(folder: Path, way: str = "the same again") -> Question:
    return Question("rows", 500, folder / "looks.json", "run", "data", way)


def fitted(place: Path, evidence: Evidence) -> Finished:
    (place / EVIDENCE).write_bytes(encode_evidence([evidence]))
    told = {FILES: hash_files([place / EVIDENCE])}
    return Finished(1, Status.SUCCESS, told, folder=place)


@dataclass(frozen=True)
class Bench:
    """Final fits by a function; nothing is settled at other thresholds."""

    make: Callable[[Evaluation], Finished]
    slow: frozenset[str] = frozenset()

    def expect(self, evaluation: Evaluation) -> float:
        return 14.0 - evaluation.loss if evaluation.key in self.slow else 1.0

    def fit(
        self, evaluation: Evaluation, path: Sequence[Thresholds] = (), *, anyway: bool
    ) -> Finished | PassedOver:
        assert not path
        if evaluation.key in self.slow and not anyway:
            return too_long(evaluation, self.expect(evaluation), 6.0)
        return self.make(evaluation)

    def settle(self, finished: Finished, thresholds: Thresholds) -> None:
        raise AssertionError((finished, thresholds))


def fitter(folder: Path, found: dict[str, Rate | None]) -> Bench:
    """Final fits that saw this on the rows set aside; None for one that failed."""

    def fit(one: Evaluation) -> Finished:
        evidence = found[one.key]
        if evidence is None:
            return Finished(1, Status.TIMEOUT)
        place = folder / one.key
        place.mkdir()
        return fitted(place, evidence)

    return Bench(fit)


def test_the_search_aims_inside_and_facts_stay() -> None:
    aims = aim((FPR, COST, SIZE), aside(MIDDLING, None, None), LOOK)
    assert 0.02 < aims[0].bound < 0.08
    assert aims[1].bound == pytest.approx(40.0)
    assert aims[2] == SIZE.limit


def test_more_rows_leave_more_of_the_limit() -> None:
    bounds = [
        aim((FPR,), aside(MIDDLING, fraction=share), LOOK)[0].bound for share in (0.1, 0.2, 0.4)
    ]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]


def test_a_limit_with_a_higher_confidence_takes_more_rows_and_a_safer_aim() -> None:
    sure = replace(FPR, limit=replace(FPR.limit, confidence=0.999))
    planned = [plan_aside((one,), (MIDDLING,), 0.95).fraction for one in (FPR, sure)]
    assert planned[0] < planned[1]
    bounds = [aim((one,), aside(MIDDLING), LOOK)[0].bound for one in (FPR, sure)]
    assert bounds[1] < bounds[0]
    # The search keeps to numbers: it asks for no proof of what it aims at.
    assert aim((sure,), aside(MIDDLING), LOOK)[0].confidence is None


def test_a_later_look_needs_more_rows_and_says_so() -> None:
    first = plan_aside((FPR,), (Rate(4, 40, "negative rows"),), 0.95)
    told = [at_look((FPR,), first, Look.of(number, 0.05)).shortfalls for number in (1, 2, 6)]
    needs = [int(said.split("needs about ")[1].rstrip(").")) for (said,) in told]
    assert told[0] == first.shortfalls
    assert needs == sorted(set(needs))
    assert at_look((FPR,), first, Look.of(6, 0.05)).fraction == first.fraction


def test_costs_take_no_rows_but_some_are_set_aside() -> None:
    planned = plan_aside((COST, SIZE), (None, None), 0.95)
    assert planned.fraction == 0.2
    assert planned.shortfalls == ()
    assert plan_aside((FPR,), (MIDDLING,), 0.95, fraction=0.3).fraction == 0.3


def test_what_the_rows_will_not_do_is_said() -> None:
    (said,) = plan_aside((FPR,), (Rate(4, 40, "negative rows"),), 0.95).shortfalls
    assert "negative rows" in said
    assert "fpr <= 0.1" in said


def test_contenders_come_safest_first_and_each_is_better_than_those_before() -> None:
    log = [
        evaluation("safe", 0.30, 0.02),
        evaluation("good", 0.20, 0.05),
        evaluation("worse", 0.40, 0.04),
        evaluation("outside", 0.10, 0.20),
    ]
    keys = [one.key for one in contend(log, (FPR,), aside(MIDDLING))]
    assert keys == ["safe", "good"]


def test_where_nothing_can_pass_the_best_within_the_limits_is_looked_at_alone() -> None:
    few = aside(Rate(4, 40, "negative rows"))
    log = [evaluation("safe", 0.5, 0.0), evaluation("good", 0.2, 0.09), evaluation("out", 0.1, 0.2)]
    assert [one.key for one in contend(log, (FPR,), few)] == ["good"]
    assert aim((FPR,), few, LOOK) == (FPR.limit,)


def test_careful_thresholds_are_tested_where_a_middling_pipeline_could_not_pass() -> None:
    """The bound of a gap is wide at middling rates, and narrow where hardly any row is called."""
    limit = Limit("fpr_gap[g]", 0.10, extreme=0.0)
    gap = Constraint(limit, lambda _: 0.0, kind="statistical")
    middling = Gap({"f": Rate(160, 400, "negatives"), "m": Rate(560, 1400, "negatives")})
    planned = replace(aside(middling), has_thresholds=True)
    stops = tuple(
        Stop(Thresholds(threshold), (value,), utility, None)
        for threshold, value, utility in ((0.9, 0.002, 0.55), (0.7, 0.02, 0.6), (0.5, 0.09, 0.7))
    )
    path = DecisionPath("balanced accuracy", stops).as_details()
    found = replace(evaluation("path", 0.3, 0.09), details={PATH: path})
    assert half_width(stretch(middling, 0.25), limit, 0.025, approximate_allowed=True) > 0.10
    assert [one.place for one in contend([found], (gap,), planned)] == [0, 1, 2]
    # Without thresholds, and where not even rates of 0 would pass, one is looked at alone.
    assert [one.place for one in contend([found], (gap,), aside(middling))] == [None]
    few = Gap({"f": Rate(4, 40, "negatives"), "m": Rate(280, 1400, "negatives")})
    assert [one.place for one in contend([found], (gap,), replace(planned, examples=(few,)))] == [
        None
    ]


def test_the_best_that_passes_ships(tmp_path: Path) -> None:
    log = [evaluation("safe", 0.3, 0.02), evaluation("good", 0.2, 0.05)]
    seen = {"safe": Rate(5, 500), "good": Rate(20, 500)}
    asked = question(tmp_path)
    found = examine(log, (FPR,), aside(MIDDLING), asked, fitter(tmp_path, seen))
    assert isinstance(found, Examined)
    assert found.shipped.contender.key == "good"
    assert found.shipped.is_certified
    assert found.look is not None
    assert (found.look.number, asked.next_look(0.05).number) == (1, 1)


def test_a_last_look_tests_at_the_whole_risk(tmp_path: Path) -> None:
    # So many of 500 are within 10 % at a risk of 0.05, and not at 0.025.
    log, seen = [evaluation("only", 0.3, 0.02)], {"only": Rate(38, 500)}
    for is_last in (False, True):
        asked = replace(question(tmp_path / str(is_last)), is_last=is_last)
        asked.ledger.parent.mkdir()
        planned = replace(aside(MIDDLING), is_last_look=is_last)
        found = examine(log, (FPR,), planned, asked, fitter(asked.ledger.parent, seen))
        assert isinstance(found, Examined)
        assert found.shipped.is_certified == is_last
        assert found.look == Look.of(1, planned.risk, is_last=is_last)


def test_a_last_look_that_others_took_meanwhile_tests_nothing(tmp_path: Path) -> None:
    asked = replace(question(tmp_path), is_last=True)
    take_look(asked.ledger, asked.data, "of another process", 0.05, is_last=True)
    log, seen = [evaluation("only", 0.3, 0.02)], {"only": Rate(0, 500)}
    found = examine(log, (FPR,), aside(MIDDLING), asked, fitter(tmp_path, seen))
    assert isinstance(found, Examined)
    assert not found.shipped.is_certified
    assert found.why_untested is not None
    assert "have had their last look" in found.why_untested


def test_the_walk_ends_at_the_first_that_does_not_pass(tmp_path: Path) -> None:
    log = [evaluation(f"{place}", 0.3 - place / 10, 0.02 + place / 50) for place in range(3)]
    seen = {"0": Rate(5, 500), "1": Rate(60, 500), "2": Rate(0, 500)}
    found = examine(log, (FPR,), aside(MIDDLING), question(tmp_path), fitter(tmp_path, seen))
    assert isinstance(found, Examined)
    assert found.shipped.contender.key == "0"
    assert not (tmp_path / "2").exists()


def test_what_is_not_certified_is_said_to_be_so(tmp_path: Path) -> None:
    log, seen = [evaluation("only", 0.3, 0.02)], {"only": Rate(45, 500)}
    found = examine(log, (FPR,), aside(MIDDLING), question(tmp_path), fitter(tmp_path, seen))
    assert isinstance(found, Examined)
    assert not found.shipped.is_certified
    assert "not certified" in str(found.shipped.findings[0])


def test_without_a_fit_nothing_was_examined_and_the_look_counts(tmp_path: Path) -> None:
    log, asked = [evaluation("only", 0.3, 0.02)], question(tmp_path)
    found = examine(log, (FPR,), aside(MIDDLING), asked, fitter(tmp_path, {"only": None}))
    assert found == Untested(
        "evaluation #1 was not tested: it could not be fitted on all rows (timeout)"
    )
    assert replace(asked, way="").next_look(0.05).number == 2


def test_a_run_made_again_is_no_new_look_but_one_that_may_go_another_way_is(tmp_path: Path) -> None:
    asked = question(tmp_path)
    for number, folder in enumerate(("one", "two")):
        (tmp_path / folder).mkdir()
        log, seen = [evaluation("only", 0.3, 0.02)], {"only": Rate(5, 500)}
        found = examine(log, (FPR,), aside(MIDDLING), asked, fitter(tmp_path / folder, seen))
        assert isinstance(found, Examined)
        assert found.look is not None
        assert (found.look.number, asked.next_look(0.05).number) == (1, 1), number
    another = question(tmp_path, way="")
    for number, folder in enumerate(("three", "four")):
        (tmp_path / folder).mkdir()
        fit = fitter(tmp_path / folder, {"only": None})
        assert another.next_look(0.05).number == 2 + number
        examine(log, (FPR,), aside(MIDDLING), another, fit)
        assert another.next_look(0.05).number == 3 + number
    assert question(tmp_path).next_look(0.05).number == 1


def test_a_fact_outside_is_never_certified(tmp_path: Path) -> None:
    log = [evaluation("big", 0.3, 9.0)]

    def fit(one: Evaluation) -> Finished:
        return fitted(tmp_path, Fact(9.0))

    found = examine(log, (SIZE,), aside(None), question(tmp_path), Bench(fit))
    assert isinstance(found, Examined)
    assert found.shipped.findings[0].verdict == "violated"


def test_looks_are_counted_in_the_state_of_the_user(state_home: Path) -> None:
    assert default_ledger() == state_home / "automl-admm" / "looks.json"


def test_what_decides_one_class_is_never_tested_before_what_may_pass(tmp_path: Path) -> None:
    """The safest there is, and of no use: it neither ships nor ends the walk before the others."""
    constant = replace(evaluation("constant", 0.5, 0.0), details={"one_class": "no"})
    fits_constant = evaluation("refitted", 0.3, 0.01)
    useful = evaluation("useful", 0.084, 0.02)
    log = [constant, fits_constant, useful]
    assert [one.key for one in contend(log, (FPR,), aside(MIDDLING))] == ["refitted", "useful"]
    made = fitter(tmp_path, {"refitted": Rate(0, 500), "useful": Rate(10, 500)})

    def fit(one: Evaluation) -> Finished:
        found = made.make(one)
        return replace(found, result={"one_class": "no"}) if one is fits_constant else found

    examined = examine(log, (FPR,), aside(MIDDLING), question(tmp_path), Bench(fit))
    assert isinstance(examined, Examined)
    assert examined.shipped.contender.key == "useful"
    assert examined.shipped.is_certified
    bench = Bench(fit)
    nothing = examine([constant], (FPR,), aside(MIDDLING), question(tmp_path), bench)
    assert nothing == Untested("no evaluation tells the classes apart")


THREE = [
    numbered(1, "safe", 0.3, 0.02),
    numbered(2, "good", 0.2, 0.04),
    numbered(3, "best", 0.1, 0.06),
]
PASSING = {"safe": Rate(2, 500), "good": Rate(10, 500), "best": Rate(15, 500)}


def walk_over(folder: Path, found: dict[str, Rate | None], *slow: str) -> Examined | Untested:
    bench = replace(fitter(folder, found), slow=frozenset(slow))
    return examine(THREE, (FPR,), aside(MIDDLING), question(folder), bench)


def test_a_walk_over_all_passes_over_none(tmp_path: Path) -> None:
    found = walk_over(tmp_path, PASSING)
    assert isinstance(found, Examined)
    assert (found.evaluation.number, found.passed) == (3, ())


def test_one_that_is_too_slow_is_told_and_does_not_end_the_walk(tmp_path: Path) -> None:
    found = walk_over(tmp_path, PASSING, "good")
    assert isinstance(found, Examined)
    assert (found.evaluation.number, found.passed) == (3, ())  # what is worse costs nobody anything
    (tmp_path / "again").mkdir()
    found = walk_over(tmp_path / "again", PASSING, "best")
    assert isinstance(found, Examined)
    assert found.shipped.is_certified
    assert found.evaluation.number == 2
    assert say_passed_over(found.passed) == (
        "Evaluation #3 is better than what ships: its final fit was expected to take up to 13.9 s, "
        "and 6.0 s were left."
    )
    assert found.passed[0].needs_time


def test_a_failed_fit_ends_the_walk_and_both_are_told(tmp_path: Path) -> None:
    found = walk_over(tmp_path, PASSING | {"good": None})
    assert isinstance(found, Examined)
    assert found.evaluation.number == 1
    failed = "it could not be fitted on all rows (timeout)"
    assert say_passed_over(found.passed) == (
        f"Evaluation #3 is better than what ships: the tests ended at #2 ({failed}). "
        f"So for #2 ({failed})."
    )


def test_where_all_are_too_slow_the_quickest_is_fitted_all_the_same(tmp_path: Path) -> None:
    found = walk_over(tmp_path, PASSING, "safe", "good", "best")
    assert isinstance(found, Examined)
    assert found.evaluation.number == 1
    assert [(one.evaluation.number, one.is_better) for one in found.passed] == [
        (3, True),
        (2, True),
    ]


def test_without_a_certificate_all_that_was_not_tested_is_told(tmp_path: Path) -> None:
    found = walk_over(tmp_path, {"best": Rate(60, 500)}, "safe", "good")
    assert isinstance(found, Examined)
    assert not found.shipped.is_certified
    said = say_passed_over(found.passed)
    assert said is not None
    assert said.startswith("Evaluation #2 was not tested: its final fit was expected")
    assert [one.evaluation.number for one in found.passed] == [2, 1]


def test_one_class_at_the_final_fit_is_told(tmp_path: Path) -> None:
    made = fitter(tmp_path, PASSING)

    def fit(one: Evaluation) -> Finished:
        found = made.make(one)
        return replace(found, result={"one_class": "no"}) if one.key == "best" else found

    found = examine(THREE, (FPR,), aside(MIDDLING), question(tmp_path), Bench(fit))
    assert isinstance(found, Examined)
    (passed,) = found.passed
    assert (passed.evaluation.number, passed.needs_time) == (3, False)
    assert passed.reason == "fitted on all rows of the search, it gives them all one class"


def test_a_fit_that_went_wrong_is_passed_over_and_the_walk_goes_on(tmp_path: Path) -> None:
    made = fitter(tmp_path, PASSING)

    def fit(one: Evaluation) -> Finished:
        result = {"seen_loss": 0.9 if one.key in wrong else one.loss}
        finished = made.make(one)
        return replace(finished, result={**finished.result, **result})

    wrong = {"safe", "best"}
    asked = question(tmp_path)
    found = examine(THREE, (FPR,), aside(MIDDLING), asked, Bench(fit))
    assert isinstance(found, Examined)
    assert (found.evaluation.number, found.shipped.is_certified) == (2, True)
    (passed,) = found.passed
    assert passed.evaluation.number == 3
    assert passed.reason.startswith("its fit on all rows went wrong: on rows that it learned from")
    # The order of the tests is that of all: it was fixed before any fit.
    assert len(found.order) == len(THREE)


def test_a_model_without_values_on_the_rows_set_aside_says_so(tmp_path: Path) -> None:
    def fit(one: Evaluation) -> Finished:
        return Finished(1, Status.SUCCESS, {"held_out_problem": "ValueError: new"}, folder=tmp_path)

    found = examine(THREE[:1], (FPR,), aside(MIDDLING), question(tmp_path), Bench(fit))
    assert isinstance(found, Examined)
    assert not found.shipped.findings
    assert found.why_untested == (
        "evaluation #1 was not tested: it has no values on the rows set aside (ValueError: new)"
    )


def test_a_walk_over_models_of_one_class_takes_no_look(tmp_path: Path) -> None:
    asked = question(tmp_path)
    constant = Finished(1, Status.SUCCESS, {"one_class": "no"}, folder=tmp_path)
    found = examine(THREE, (FPR,), aside(MIDDLING), asked, Bench(lambda _: constant))
    assert isinstance(found, Untested)
    assert "it gives them all one class" in found.reason
    assert not asked.ledger.exists()
    assert asked.next_look(0.05).number == 1


def test_without_a_ledger_the_model_ships_untested(tmp_path: Path) -> None:
    broken = question(tmp_path)
    broken.ledger.write_text("{")
    found = examine(THREE, (FPR,), aside(MIDDLING), broken, fitter(tmp_path, PASSING))
    assert isinstance(found, Examined)
    assert (found.evaluation.number, found.look) == (1, None)
    assert found.why_untested is not None
    assert "no look could be counted, as" in found.why_untested


def test_a_model_outside_a_limit_on_a_fact_is_passed_over_and_the_walk_goes_on(
    tmp_path: Path,
) -> None:
    limits = (FPR, SIZE)
    log = [
        numbered(1, "safe", 0.30, 0.01, 4.0),
        numbered(2, "grown", 0.20, 0.02, 4.0),
        numbered(3, "good", 0.10, 0.03, 4.0),
    ]

    def fit(one: Evaluation) -> Finished:
        place = tmp_path / one.key
        place.mkdir()
        size = 6.0 if one.key == "grown" else 4.5
        (place / EVIDENCE).write_bytes(encode_evidence([Rate(10, 1000), Fact(size)]))
        told = {FILES: hash_files([place / EVIDENCE]), "costs": (math.nan, size)}
        return Finished(1, Status.SUCCESS, told, folder=place)

    plan = aside(Rate(100, 5000, "negative rows"), None)
    found = examine(log, limits, plan, question(tmp_path), Bench(fit))
    assert isinstance(found, Examined)
    assert (found.shipped.contender.key, found.shipped.is_certified) == ("good", True)
