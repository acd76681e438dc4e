"""The rules by which an ensemble would ship, and their tables."""

from __future__ import annotations

import math
from typing import Any

import pytest
from ensembles import RULES, Measured, report


def measured(seed: int = 0, **changed: Any) -> Measured:
    usual: dict[str, Any] = {
        "data": "sonar",
        "metric": "roc_auc",
        "seed": seed,
        "evaluations": 40,
        "candidates": 9,
        "validated_single": 0.80,
        "validated_ensemble": 0.81,
        "single": 0.75,
        "ensemble": 0.77,
        "members": 3,
        "gain": 0.01,
        "error": 0.02,
        "seconds_single": 1.0,
        "seconds_ensemble": 4.0,
        "us_single": 10.0,
        "us_ensemble": 30.0,
    }
    return Measured(**usual | changed)


def shipped(one: Measured) -> set[str]:
    return {name for name, rule in RULES.items() if one.ships(*rule)}


def both(*names: str) -> set[str]:
    return {whole for name in names for whole in (name, f"{name}, of 8")}


@pytest.mark.parametrize(
    ("changed", "rules"),
    [
        ({"gain": 0.03}, both("always", "unless worse", "with a gain", "1 error")),
        ({"gain": 0.01}, both("always", "unless worse", "with a gain")),
        ({"gain": -0.01}, both("always", "unless worse")),
        ({"gain": -0.03}, both("always")),
        ({"gain": 0.01, "candidates": 7}, {"always", "unless worse", "with a gain"}),
        # Out of fold it may be worse by as much as its estimate may.
        ({"gain": 0.03, "validated_ensemble": 0.79}, both("always", "unless worse")),
        ({"gain": 0.03, "validated_ensemble": 0.77}, both("always")),
        ({"gain": math.nan, "error": math.nan}, both("always")),
        ({"ensemble": None}, set()),
    ],
)
def test_a_rule_ships_by_what_is_known_before_the_unseen_rows(
    changed: dict[str, Any], rules: set[str]
) -> None:
    assert shipped(measured(**changed)) == rules


def test_the_tables_count_what_a_rule_ships_against_the_best_pipeline() -> None:
    found = [
        measured(0, single=0.70, ensemble=0.75, gain=0.03),
        measured(1, single=0.80, ensemble=0.70, gain=-0.03),
        measured(2, single=0.75, ensemble=None),
    ]
    tables = report(found)
    rows = {row[0]: row[1:] for row in tables["rules-all"]["rows"]}
    assert rows["always"][:4] == [2, 1, 1, 1]
    assert rows["1 error"][:4] == [1, 1, 0, 2]
    # A gain of .05 and a loss of .1, in spreads of the single pipeline's score, which is .05.
    assert float(rows["always"][5]) == pytest.approx((1.0 - 2.0) / 3, abs=0.001)
    assert tables["rules-roc_auc"]["rows"] == tables["rules-all"]["rows"]
    assert tables["sets"]["rows"] == [["sonar", "roc_auc", 3, "0.7500", "0.7333", 1, 1, 1]]
    assert tables["costs"]["rows"] == [[2, "3", "4.0 times", "3.0 times"]]
