"""The simulations of every kind of bound know the truth, and find out a bound that is wrong."""

from __future__ import annotations

from typing import Any

import every_bound
import numpy as np
import pytest
from behaviour_worlds import BEHAVIOUR_WORLDS
from bound_worlds import WORLDS
from every_bound import EDGE, PATH, passes, simulate, tables, truth_of, watch

from automl_admm.certify.bounds.bounds import Bounds
from automl_admm.core.evidence import Evidence

OF_NAME = {world.limit: world for world in (*WORLDS, *BEHAVIOUR_WORLDS)}
DECIDED = "error, of the decided rows"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MANY", 400_000), ("HOSTILE", 60), ("WALKS", 20)):
        monkeypatch.setattr(every_bound, name, value)


@pytest.mark.parametrize("name", ["fpr", "precision", "mae_to_N", "latency_ms", "abstain", DECIDED])
@pytest.mark.usefixtures("few")
def test_a_world_is_inside_before_the_edge_and_outside_from_it(name: str) -> None:
    world = OF_NAME[name]
    truth = truth_of(world)
    noise = world.draw(np.random.default_rng(7), 400_000)
    inside = [
        truth.limit.holds(world.evidence(noise, PATH[place]).value)
        for place in (EDGE - 1, EDGE + 1)
    ]
    assert inside == [True, False]


@pytest.mark.parametrize("name", ["blank_moves_N", "noise_moves"])
def test_a_model_that_answers_moves_more_along_the_path(name: str) -> None:
    world = OF_NAME[name]
    noise = world.draw(np.random.default_rng(7), 20_000)
    values = [world.evidence(noise, PATH[place]).value for place in (0, EDGE, -1)]
    assert 0 < values[0] < values[1] < values[2] < 1


@pytest.mark.usefixtures("few")
def test_a_bound_that_is_the_value_itself_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    right = simulate(OF_NAME["fpr"])

    def no_bound(evidence: Evidence, risk: float) -> Bounds:
        assert risk == every_bound.RISK
        return Bounds(evidence.value - 0.001, evidence.value + 0.001, "none")

    monkeypatch.setattr(every_bound, "exact_bounds", no_bound)
    wrong = simulate(OF_NAME["fpr"])
    assert right["false"] <= 10
    assert wrong["false"] >= 20


def test_an_approximate_bound_is_tried_where_the_world_says_so() -> None:
    noise = OF_NAME["auc"].draw(np.random.default_rng(0), 500)
    limit = every_bound.Limit("auc", 0.82, at_least=True)
    ranking = OF_NAME["auc"].evidence(noise, 0.25)
    assert ranking.value > 0.84
    assert [passes(OF_NAME[one], limit, ranking) for one in ("auc", "auc, approximate")] == [
        False,
        True,
    ]


def test_the_monitor_finds_a_breach_and_hardly_ever_errs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(every_bound, "WALKS", 20)
    record = watch("a rate")
    assert record["alarms"] <= 3
    assert record["claims"] <= 3
    assert record["found"] >= 10


def test_the_tables_count_what_was_drawn() -> None:
    walked: dict[str, Any] = {"limit": "fpr", "rows": 500, "false": 50, "hostile": 1000}
    walked |= {"walks": 200, "certified": 100, "broken": 4, "free": 200, "free_broken": 90}
    walked |= {"utility": 0.7, "free_utility": None, "oracle": 0.75}
    seen = {"watched": "a rate", "runs": 100, "alarms": 1, "claims": 0, "found": 80}
    found = tables([walked, seen])
    assert found["bounds"]["rows"][0][2:] == [
        "5.0 (3.7 to 6.5)",
        "50%",
        "2.0 (0.5 to 5.0)",
        "45%",
        "0.750",
        "0.700",
        "-",
    ]
    assert found["monitor"]["rows"] == [["a rate", "1.0 (0.0 to 5.4)", "0.0 (0.0 to 3.6)", "80%"]]
