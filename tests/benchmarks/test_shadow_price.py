"""The problem with a known shadow price has it, and each row of the study makes a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shadow_price
from priced_problem import BASE, LIMIT, SPACE, UNIT, PricedProblem, selections
from shadow_price import ROWS, WIDTHS, Job, course_table, events_of, parts_table

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.space import Candidate, Selection
from automl_admm.search.admm import pricing


def best_of(problem: PricedProblem, selection: Selection, bound: float) -> float:
    """Return the least loss of a selection within a limit, by spending all that is left."""
    active = list(SPACE.active(selection))
    theta = problem.best[active].copy()
    theta[0] = min((bound - 1.0) / problem.width - problem.spent[selection], 1.0)
    if theta[0] < 0.0:
        return np.inf
    found = problem.evaluate(1, "key", Candidate(selection, tuple(theta)))
    assert found.constraints[0] <= bound + 1e-12
    return found.loss


@pytest.mark.parametrize("width", WIDTHS)
def test_a_higher_limit_lowers_the_least_loss_by_the_price(width: float) -> None:
    problem, step = PricedProblem.of(width, 3), 0.02 * width
    least, lower = (min(best_of(problem, z, e) for z in selections()) for e in (1.0, 1.0 + step))
    assert least == pytest.approx(BASE)
    assert (least - lower) / step == pytest.approx(problem.price)


def test_no_point_has_a_lower_lagrangian_than_the_optimum() -> None:
    """So mixtures of points are no better: the price is that of the relaxed problem, too."""
    problem, rng = PricedProblem.of(0.1, 4), np.random.default_rng(0)
    for selection in selections():
        theta = tuple(rng.random(len(SPACE.active(selection))))
        found = problem.evaluate(1, "key", SPACE.projected(Candidate(selection, theta)))
        assert found.loss + problem.price * (found.constraints[0] - 1.0) >= BASE
    kept = [spent <= 0.0 for spent in problem.spent.values()]
    assert 0.4 < np.mean(kept) < 0.95


def test_the_old_unit_is_put_back() -> None:
    known = pricing._constraint_unit
    assert known(LIMIT, [1.0 + 0.001 * n for n in range(9)]) < 0.01
    with shadow_price.a_tenth_of_the_limit():
        assert pricing._constraint_unit(LIMIT, [1.0, 1.0]) == pytest.approx(0.1)
    assert pricing._constraint_unit is known


def test_a_small_study_has_all_rows_and_the_course() -> None:
    jobs = [Job(name, 1.0, 0, 10) for name in ("ADMM as shipped", "the papers' form")]
    events = [events_of(job) for job in jobs]
    for found in events:
        assert sum(isinstance(event, Evaluation) for event in found) == 10
    runs = {replace(jobs[0], name=name).key: shadow_price.run(jobs[0])[1] for name in ROWS}
    every = [replace(jobs[0], name=name) for name in ROWS]
    rows = parts_table(runs, every, 1.0)["rows"]
    assert [row[0] for row in rows] == list(ROWS)
    assert runs[jobs[0].key].loss <= 1.0 + 1.0 / UNIT
    pairs = [replace(job, width=w) for w in WIDTHS for job in every]
    level = shadow_price.duals_table(
        dict.fromkeys((job.key for job in pairs), runs[jobs[0].key]), pairs
    )
    assert [row[-2:] for row in level["rows"]] == [["0/0/1", "1"]] * 9
    followed = [Job(name, w, 0, 8) for w in WIDTHS for name in shadow_price.FOLLOWED]
    table = course_table({job.key: [[4, 0.5, 0.0], [8, 1.0, 0.1]] for job in followed}, followed)
    assert table["rows"][0][2:] == [
        "0.00 (0.00 to 0.00)",
        "0.00 (0.00 to 0.00)",
        "0.50 (0.50 to 0.50)",
        "1.00 (1.00 to 1.00)",
        "0.100",
        "2",
    ]
