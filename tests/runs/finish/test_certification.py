from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.evidence import Evidence, Fact, Rate
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Finished
from automl_admm.core.space import Candidate
from automl_admm.execution.evidence_files import FILES, encode_evidence, hash_files
from automl_admm.pipelines.shipping import EVIDENCE
from automl_admm.pipelines.thresholds.by_group import Thresholds
from automl_admm.plugins.records import Constraint
from automl_admm.runs.finish.certification import contend, examine
from automl_admm.runs.prepare.set_aside import Aside, Question, aim, default_ledger, plan_aside

FPR = Constraint(Limit("fpr", 0.10, extreme=0.0), lambda _: 0.0, kind="statistical")
COST = Constraint(Limit("latency_us", 50.0, extreme=0.0), lambda _: 0.0)
SIZE = Constraint(Limit("size_mb", 5.0, extreme=0.0), lambda _: 0.0, kind="checked")
MIDDLING = Rate(200, 2000, "negative rows")


def aside(*examples: Evidence | None, fraction: float = 0.25) -> Aside:
    return Aside(0.95, fraction, examples)


def evaluation(key: str, loss: float, *constraints: float) -> Evaluation:
    return Evaluation(1, key, Candidate((), ()), Status.SUCCESS, loss, constraints)


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

    def fit(self, evaluation: Evaluation, path: Sequence[Thresholds] = ()) -> Finished:
        assert not path
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
    aims = aim((FPR, COST, SIZE), aside(MIDDLING, None, None), 0.025)
    assert 0.02 < aims[0].bound < 0.08
    assert aims[1].bound == pytest.approx(40.0)
    assert aims[2] == SIZE.limit


def test_more_rows_leave_more_of_the_limit() -> None:
    bounds = [
        aim((FPR,), aside(MIDDLING, fraction=share), 0.025)[0].bound for share in (0.1, 0.2, 0.4)
    ]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]


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
    assert aim((FPR,), few, 0.025) == (FPR.limit,)


def test_the_best_that_passes_ships(tmp_path: Path) -> None:
    log = [evaluation("safe", 0.3, 0.02), evaluation("good", 0.2, 0.05)]
    seen = {"safe": Rate(5, 500), "good": Rate(20, 500)}
    asked = question(tmp_path)
    found = examine(log, (FPR,), aside(MIDDLING), asked, fitter(tmp_path, seen))
    assert found is not None
    assert found.shipped.contender.key == "good"
    assert found.shipped.is_certified
    assert (found.look.number, asked.next_look) == (1, 1)


def test_the_walk_ends_at_the_first_that_does_not_pass(tmp_path: Path) -> None:
    log = [evaluation(f"{place}", 0.3 - place / 10, 0.02 + place / 50) for place in range(3)]
    seen = {"0": Rate(5, 500), "1": Rate(60, 500), "2": Rate(0, 500)}
    found = examine(log, (FPR,), aside(MIDDLING), question(tmp_path), fitter(tmp_path, seen))
    assert found is not None
    assert found.shipped.contender.key == "0"
    assert not (tmp_path / "2").exists()


def test_what_is_not_certified_is_said_to_be_so(tmp_path: Path) -> None:
    log, seen = [evaluation("only", 0.3, 0.02)], {"only": Rate(45, 500)}
    found = examine(log, (FPR,), aside(MIDDLING), question(tmp_path), fitter(tmp_path, seen))
    assert found is not None
    assert not found.shipped.is_certified
    assert "not certified" in str(found.shipped.findings[0])


def test_without_a_fit_nothing_was_examined_and_the_look_counts(tmp_path: Path) -> None:
    log, asked = [evaluation("only", 0.3, 0.02)], question(tmp_path)
    assert examine(log, (FPR,), aside(MIDDLING), asked, fitter(tmp_path, {"only": None})) is None
    assert replace(asked, way="").next_look == 2


def test_a_run_made_again_is_no_new_look_but_one_that_may_go_another_way_is(tmp_path: Path) -> None:
    asked = question(tmp_path)
    for number, folder in enumerate(("one", "two")):
        (tmp_path / folder).mkdir()
        log, seen = [evaluation("only", 0.3, 0.02)], {"only": Rate(5, 500)}
        found = examine(log, (FPR,), aside(MIDDLING), asked, fitter(tmp_path / folder, seen))
        assert found is not None
        assert (found.look.number, asked.next_look) == (1, 1), number
    another = question(tmp_path, way="")
    for number, folder in enumerate(("three", "four")):
        (tmp_path / folder).mkdir()
        fit = fitter(tmp_path / folder, {"only": None})
        assert another.next_look == 2 + number
        examine(log, (FPR,), aside(MIDDLING), another, fit)
        assert another.next_look == 3 + number
    assert question(tmp_path).next_look == 1


def test_a_fact_outside_is_never_certified(tmp_path: Path) -> None:
    log = [evaluation("big", 0.3, 9.0)]

    def fit(one: Evaluation) -> Finished:
        return fitted(tmp_path, Fact(9.0))

    found = examine(log, (SIZE,), aside(None), question(tmp_path), Bench(fit))
    assert found is not None
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
        found = made.fit(one)
        return replace(found, result={"one_class": "no"}) if one is fits_constant else found

    examined = examine(log, (FPR,), aside(MIDDLING), question(tmp_path), Bench(fit))
    assert examined is not None
    assert examined.shipped.contender.key == "useful"
    assert examined.shipped.is_certified
    bench = Bench(fit)
    assert examine([constant], (FPR,), aside(MIDDLING), question(tmp_path), bench) is None
