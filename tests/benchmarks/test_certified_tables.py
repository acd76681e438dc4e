"""The tables of certified limits count what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from certified_answers import moves_of, of_answers
from certified_findings_tables import kinds_table, price_table
from certified_kinds import Seen, of_classes, of_regression, of_two_classes
from certified_rivals_tables import answers, first, utility
from certified_tasks import Asked


def record(method: str, limit: str, split: int, **told: Any) -> dict[str, Any]:
    """Return what a method reached; without a value it gave no answer."""
    answered = {"value": 0.01, "balanced": 0.7, "recall": 0.6} | told if told else {}
    place = {"table": "adult", "limit": limit, "split": split, "method": method, "error": ""}
    return {**place, "answers": bool(told), **answered}


LIMITS = ("fpr <= 0.05", "fpr <= 0.1")
FOUND = [
    *(record("ours", limit, split, balanced=0.7) for limit in LIMITS for split in (0, 1)),
    record("rival", LIMITS[0], 0, balanced=0.8, value=0.06),
    record("rival", LIMITS[0], 1, balanced=0.8),
    record("rival", LIMITS[1], 0, balanced=0.8),
    record("rival", LIMITS[1], 1),
]


def test_no_answer_is_worth_a_constant_and_a_broken_one_is_told() -> None:
    shown = {row[0]: row for row in answers(FOUND)["rows"]}
    assert shown["rival"][1:3] == ["3/4", "1/3"]
    reached = {row[0]: row for row in utility(FOUND)["rows"]}
    assert reached["ours"][2] == "0.700"
    # (0.8 + (0.8 + 0.5) / 2) / 2, and 0.5 for the answer whose limit is broken as well.
    assert reached["rival"][2:4] == ["0.725", "0.650"]
    assert reached["rival"][5] == "1/1/0"


def test_the_first_of_a_setting_is_the_best_mean_over_its_splits() -> None:
    of_rates = first(FOUND, lambda one: "gap" not in one["limit"], "limits on a rate")
    assert {row[0]: row[1] for row in of_rates["rows"]} == {"ours": 1, "rival": 1}


@pytest.mark.parametrize(
    ("text", "value"),
    [("fpr <= 0.1", 0.5), ("fnr <= 0.2", 0.0), ("recall_gap[sex] <= 0.1", 0.0)],
)
def test_a_limit_is_measured_by_its_own_rows(text: str, value: float) -> None:
    called, truth = np.array([True, True, True, False]), np.array([True, True, False, False])
    groups = pd.DataFrame({"sex": ["f", "m", "f", "m"]})
    asked = Asked(text)
    assert asked.value(called, truth, groups) == value
    assert asked.upper(called, truth, groups) > value


def run(seed: int, *, bound: float, true: float, verdict: str = "certified") -> dict[str, Any]:
    """Return a run on abalone in which every limit is at 1.0 and has the same value."""
    texts = [kind.text for kind in of_regression("Sex")]
    found = {"verdict": verdict, "approximate": False, "bound": bound, "method": ""}
    values = dict.fromkeys(texts, true)
    return {
        "world": "abalone",
        "seed": seed,
        "room": 2,
        "limits": dict.fromkeys(texts, 1.0),
        "plain": values,
        "certified": values,
        "findings": dict.fromkeys(texts, found),
        "is_certified": verdict == "certified",
        "certified_utility": 0.5,
        "plain_utility": 0.6,
        "oracle": None,
    }


def test_a_false_certificate_is_counted_for_its_kind() -> None:
    runs = [run(2, bound=0.9, true=0.8), run(5, bound=0.9, true=1.2)]
    runs.append(run(8, bound=1.1, true=1.2, verdict="not certified"))
    shown = {row[0]: row for row in kinds_table(runs)["rows"]}
    assert shown["`mae`"][4:6] == ["2/3", "1/2"]
    # R² is a limit from below: its certificate is false where the other one holds.
    assert shown["`r2`"][4:6] == ["2/3", "1/2"]
    assert shown["`mae`"][7] == "1/2"
    assert price_table("regression", runs)["rows"][2][1:3] == ["2/3", 2]
    assert price_table("regression", runs)["rows"][2][4:] == ["0.5000", "0.6000", "0.1000"]


def test_kinds_of_classes_are_measured_by_their_definition() -> None:
    truth = np.array(["a", "a", "b", "b", "c", "c"])
    called = np.array(["a", "b", "b", "b", "c", "a"])
    sure = np.eye(3)[[0, 1, 1, 1, 2, 0]]
    seen = Seen(called, truth, None, sure, ["a", "b", "c"])
    values = {kind.text: kind.measure(seen) for kind in of_classes("a", "c")}
    assert values['recall{class="a"}'] == values["min_recall{class}"] == 0.5
    assert values['confusion{true="c",predicted="a"}'] == 0.5
    assert values["macro_recall"] == pytest.approx(2 / 3)
    assert values['auc{class="a"}'] == pytest.approx(0.625)


def test_kinds_of_two_classes_are_measured_by_their_definition() -> None:
    truth, called = (np.array(list(one)) for one in ("nnnnpppp", "nnnpnppp"))
    scores = np.array([0.1, 0.2, 0.3, 0.8, 0.4, 0.9, 0.7, 0.6])
    groups = np.array(list("abababab"))
    sure = np.column_stack([1 - scores, scores])
    seen = Seen(called, truth, groups, sure, ["n", "p"], scores - 0.1 * (groups == "a"), scores)
    values = {kind.text: kind.measure(seen) for kind in of_two_classes("sex", "rising_breaks_1[x]")}
    assert (values["fpr"], values["precision"], values["f1"]) == (0.25, 0.75, 0.75)
    assert values["fpr_gap[sex]"] == values["max_fpr[sex]"] == 0.5
    assert values["selection_rate_ratio[sex]"] == pytest.approx(1 / 3)
    # Of 16 pairs the positive rows of 0.4, 0.7 and 0.6 are behind the negative one of 0.8.
    assert values["auc"] == pytest.approx(13 / 16)
    assert values["cost"] == pytest.approx((3 + 1) / 8)
    assert values["rising_breaks_1[x]"] == 0.5
    assert values["score_correlation[x]"] == pytest.approx(1.0)
    assert values["brier"] == pytest.approx(float(np.mean((scores - (truth == "p")) ** 2)))


def test_kinds_of_answers_are_measured_by_their_definition() -> None:
    class Sure:
        def predict_proba(self, X: pd.DataFrame) -> Any:
            up = 0.4 + 0.3 * X["a"].fillna(0.0).to_numpy() + 0.25 * (X["b"] == "u").to_numpy()
            return np.column_stack([1.0 - up, up])

    X = pd.DataFrame({"a": [0.0, 1.0, np.nan, 1.0], "b": ["u", "v", "u", "v"]})
    moves = moves_of(Sure(), X, X)
    told = np.array(["p", None, "n", "p"], dtype=object)
    seen = Seen(told, np.array(list("ppnn")), None, moves=moves)
    values = [kind.measure(seen) for kind in of_answers()]
    # The spread of a is √2 / 3, so that noise of 0.2 moves scores by 0.028.
    assert values == [pytest.approx(1 / 3), 0.25, pytest.approx(2 / 3), 0.0]
    assert moves["under noise"][:2] == pytest.approx(0.3 * 0.2 * np.sqrt(2) / 3)
