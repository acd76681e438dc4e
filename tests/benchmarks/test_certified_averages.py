"""The tables of certified averages count what they say, and the streams have the rates they say."""

from __future__ import annotations

from typing import Any

import certified_averages_tables as tables
import monitored_models as monitored
import numpy as np
import pandas as pd
import pytest
from certified_averages import best_within
from certified_kinds import Seen, World

from automl_admm import AutoMLClassifier

SURE = np.array([0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1])


def seen(truth: str, called: str) -> Seen:
    """Return predictions of n and p, with scores that fall."""
    scores = SURE[: len(truth)]
    sure = np.column_stack([1.0 - scores, scores])
    return Seen(np.array(list(called)), np.array(list(truth)), None, sure, ["n", "p"])


def run(
    seed: int, *, fpr: float, verdict: str = "certified", members: int = 2, **more: Any
) -> dict[str, Any]:
    """Return a run with a limit of 0.2 on fpr, in which the model truly has this rate."""
    is_certified = verdict == "certified"
    model = {
        "is_certified": is_certified,
        "findings": {"fpr": {"verdict": verdict, "bound": 0.19}},
        "values": {"fpr": fpr, "fnr": 0.3},
        "rows": {"fpr": 1000, "fnr": 1000},
        "utility": 0.7,
        "oracle": 0.75,
    }
    first = {"fpr": {"alarm": None, "claim": None}}
    streams = dict.fromkeys(monitored.STREAMS, first)
    return {
        "seed": seed,
        "room": 0,
        "limits": {"fpr": 0.2},
        "members": members,
        "certified": model,
        "monitor": streams | more,
    }


RUNS = [
    run(0, fpr=0.15),
    run(3, fpr=0.201, rest={"fpr": {"alarm": None, "claim": 4}}),
    run(6, fpr=0.3, drifted={"fpr": {"alarm": 3, "claim": None}}),
    run(9, fpr=0.25, verdict="not certified"),
    run(12, fpr=0.1, members=1, at={"fpr": {"alarm": 7, "claim": None}}),
]


def test_only_averages_count_and_chance_on_the_rest_is_told_from_a_false_certificate() -> None:
    shown = {row[0]: row for row in tables.kinds_table(tables.averages(RUNS))["rows"]}
    limit, title = shown["`fpr`"], tables.kinds_table(tables.averages(RUNS))["title"]
    assert title == "4 runs that ship an average"
    assert limit[1:6] == ["3/4", "0/0", "0/0", "2/3", 1]
    assert limit[7] == "2/3"
    assert shown["all of the run"][4] == "2/3"


def test_what_is_given_up_is_counted_for_runs_with_twins() -> None:
    model = RUNS[0]["certified"]
    pair = RUNS[0] | {"single": model | {"utility": 0.68}, "plain": RUNS[2]["certified"]}
    row = tables.price_table([pair, *RUNS[1:]])["rows"][0]
    assert row[1:] == ["1/1", "1/1", "0.7000", "-0.0200", "0.0500", "1/1", "0.0000"]


def test_pairs_count_where_both_are_certified_and_beside_no_certificate_always() -> None:
    model, twins = RUNS[0]["certified"], []
    for single, plain, is_certified in ((0.6, 0.8, True), (0.7, 0.7, True), (0.9, 0.6, False)):
        certified = model | {"utility": single, "is_certified": is_certified}
        twins.append(RUNS[0] | {"single": certified, "plain": model | {"utility": plain}})
    single, plain = tables.pairs_table([*twins, *RUNS])["rows"]
    assert single[1:] == [1, 0, 1, "1", "1"]
    assert plain[1:] == [1, 1, 1, "1", "1"]


def test_alarms_are_false_where_all_limits_hold_and_claims_where_one_is_broken() -> None:
    shown = {row[0]: row for row in tables.monitor_table(RUNS)["rows"]}
    rest, at, drifted = (shown[tables.SAID[name]] for name in monitored.STREAMS)
    assert rest[2].startswith("0/2")
    assert rest[3].startswith("1/3")
    assert at[2].startswith("1/5")
    assert drifted[2] == "-"
    assert drifted[4].startswith("1/5")
    assert drifted[5] == "above 2000"


def test_the_best_threshold_is_truly_within_the_limits() -> None:
    one = seen("pnpnpnpn", "pppppppp")
    # Within an fpr of 0.25 the best is to call the first three rows: a recall of 1/2.
    assert best_within(one, {"fpr": 0.25}) == pytest.approx((0.5 + 0.75) / 2)
    assert best_within(one, {"fpr": 0.2, "fnr": 0.5}) is None


def test_drawn_rows_have_the_rate_that_is_asked_for() -> None:
    one = seen("nnnnpppp", "pnnnnppp")
    weights = monitored.weights_of(one, {"fpr": 0.4})
    assert weights.sum() == pytest.approx(1.0)
    assert weights[0] == pytest.approx(0.4 * 0.5)
    assert weights[4:] == pytest.approx(np.full(4, 0.125))
    assert monitored.weights_of(seen("nnpp", "nnpp"), {"fpr": 0.4}) is None


def test_the_monitor_and_what_it_judges_by_say_the_same(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    y = pd.Series(np.where(X["a"] + rng.normal(size=400) > 0, "yes", "no"), name="target")
    mine, rest = np.arange(200), np.arange(200, 400)
    monkeypatch.setattr(monitored, "rows_of", lambda *_: (mine, rest))
    monkeypatch.setattr(monitored, "LOOKS", 3)
    search = AutoMLClassifier(
        grammar="tiny",
        max_evaluations=1,
        cv=2,
        constraints=["fpr <= 0.1"],
        executor="inline",
        random_state=0,
        work_dir=tmp_path / "run",
    )
    search.fit(X.iloc[mine], y.iloc[mine])
    told = Seen(search.predict(X.iloc[rest]), y.iloc[rest].to_numpy(), None, None, ["no", "yes"])
    here = World("averages", X, y, "", ())
    found = monitored.watched(tmp_path / "run", here, 0, told, {"fpr": 0.1})
    assert found["alike"]
    assert set(found) == {*monitored.STREAMS, "alike"}
