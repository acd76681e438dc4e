"""One evaluation explained."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from report_runs import an_evaluation, write_run

from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.pipelines.thresholds.by_group import Thresholds
from automl_admm.pipelines.thresholds.path import PATH, DecisionPath, Stop
from automl_admm.report.one_evaluation import Explained, explain
from automl_admm.report.shipped import tell_pooled_values, tell_shipped_thresholds
from automl_admm.report.view import RunView, read_view

STORED = Path(__file__).parents[1] / "runs" / "stored_run"


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    details = {
        "scores": [0.5, 0.7, 0.6],
        "steps": {"tree": 0.9},
        "fit_seconds": 0.4,
        "predict_seconds": 0.1,
        "work_seconds": 2.1,
        "threshold": math.inf,
        "group_thresholds": {"f": 0.5, "m": -math.inf},
    }
    found = [
        an_evaluation(1, key="aa11", constraints=(10.0,), loss=0.2, seconds=2.5, details=details),
        an_evaluation(2, key="aa22", constraints=(60.0,), loss=0.1, text="tree(depth=3)"),
        an_evaluation(3, key="bb33", details={"scores": [0.5], "folds_left": 2}),
        an_evaluation(7, key="cc77"),
    ]
    folder = write_run(tmp_path_factory.mktemp("one") / "run", found)
    return read_view(folder)


def test_limits_have_their_bound_and_the_excess(view: RunView) -> None:
    inside, outside = explain(view, "aa11").limits[0], explain(view, "aa22").limits[0]
    assert (inside.value, inside.bound, inside.excess, inside.holds) == (10.0, 50.0, 0.0, True)
    assert (outside.value, outside.excess, outside.holds) == (60.0, 10.0, False)


def test_one_class_for_all_rows_holds_no_limit(tmp_path: Path) -> None:
    constant = an_evaluation(1, constraints=(10.0,), details={"one_class": "no"})
    (limit,) = explain(read_view(write_run(tmp_path / "run", [constant])), "1").limits
    assert (limit.value, limit.excess, limit.holds) == (10.0, 0.0, False)


def test_scores_by_fold_have_their_spread(view: RunView) -> None:
    folds = explain(view, "aa11").folds
    assert folds.scores == (0.5, 0.7, 0.6)
    assert (folds.mean, folds.deviation) == pytest.approx((0.6, 0.1))
    assert (folds.lowest, folds.highest, folds.left) == (0.5, 0.7, 0)
    stopped = explain(view, "bb33")
    assert (stopped.status, stopped.folds.left, stopped.folds.deviation) == ("stopped", 2, None)
    assert stopped.rank is None


def test_the_seconds_of_a_fold_are_those_of_all_folds(view: RunView) -> None:
    spent = explain(view, "aa11").seconds
    assert (spent.fit, spent.predict, spent.measure) == pytest.approx((1.2, 0.3, 0.6))
    assert spent.other == pytest.approx(0.4)
    assert spent.steps == {"tree": 0.9}


def test_infinite_thresholds_are_words(view: RunView) -> None:
    found = explain(view, "aa11")
    assert found.threshold == "never"
    assert found.group_thresholds == {"f": 0.5, "m": "always"}


def test_a_failure_has_its_reason_and_its_trace(view: RunView) -> None:
    failed = explain(view, "#7")
    assert (failed.status, failed.rank, failed.score) == ("error", None, None)
    assert failed.message == "ValueError: row 7 is odd"
    assert failed.trace == "line 1\nend"
    assert failed.limits[0].value is None
    assert failed.limits[0].holds is None


def test_the_winner_is_shown_with_what_differs(view: RunView) -> None:
    best = explain(view, "aa1")
    assert (best.is_winner, best.winner, best.rank) == (True, None, 1)
    winner = explain(view, "aa2").winner
    assert winner is not None
    assert winner.number == 1
    assert winner.lead == pytest.approx(-0.1)
    assert {one.name for one in winner.beside.differences} == {
        *("impute.strategy", "tree.alpha", "tree.depth")
    }


@pytest.mark.parametrize(
    ("key", "number"), [("aa11", 1), ("aa2", 2), ("b", 3), ("7", 7), ("#2", 2)]
)
def test_a_beginning_of_the_key_or_a_number_is_enough(view: RunView, key: str, number: int) -> None:
    assert explain(view, key).number == number


def test_a_key_of_several_or_of_none_is_one_line(view: RunView) -> None:
    with pytest.raises(ConfigurationError, match="beginning of 2 keys: aa11, aa22"):
        explain(view, "aa")
    for unknown in ("zz", "#99", "٣", "9" * 400):
        with pytest.raises(UnknownNameError, match="leaderboard"):
            explain(view, unknown)


def test_a_run_without_an_evaluation_yet_is_one_line(tmp_path: Path) -> None:
    view = read_view(write_run(tmp_path / "run", []))
    for key in ("1", "#1", "aa"):
        with pytest.raises(ConfigurationError, match=r"has ended yet.*automl-admm resume"):
            explain(view, key)


def test_the_iteration_is_the_first_that_ended_after_the_evaluation(tmp_path: Path) -> None:
    found = [an_evaluation(n, details={"ended": 10.0 * n}) for n in (1, 2, 3, 4)]
    folder = write_run(tmp_path / "run", [*found, an_evaluation(5)])
    numbers = {"evaluations": 2, "incumbent": 1, "primal_residual": None, "dual_residual": None}
    numbers |= {"penalty": 1.0, "integer_penalty": 1.0, "multipliers": [], "violations": []}
    lines = [
        {"session": 1, "iteration": 0, "ended": 25.0, **numbers},
        {"session": 2, "iteration": 0, "ended": 35.0, **numbers},
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (folder / "iterations.jsonl").write_text(text)
    view = read_view(folder)
    proposed = [explain(view, str(n)).proposed.iteration for n in (1, 2, 3, 4, 5)]
    assert proposed == [1, 1, 2, None, None]


@pytest.mark.parametrize("name", ["stacked", "group_thresholds"])
def test_stored_runs_are_explained(name: str) -> None:
    old = read_view(STORED / name)
    found: list[Explained] = [explain(old, f"#{one.number}") for one in old.evaluations]
    assert sum(one.is_winner for one in found) == 1
    assert {one.proposed.by for one in found} == {"the search"}


def test_a_threshold_chosen_for_the_certificate_is_told_with_its_reason() -> None:
    logged = an_evaluation(33, details={"threshold": 0.4025})
    shipped = {"evaluation": 33, "threshold": 0.34413, "certificate_sha256": "00"}
    told = "shipped at threshold 0.3441, chosen for the certificate"
    assert tell_shipped_thresholds(shipped, logged) == told
    assert tell_shipped_thresholds({**shipped, "threshold": 0.4025}, logged) is None
    numbers = {"calibration": {"slope": 1.0, "offset": 0.0, "response": "predict_proba"}}
    calibrated = an_evaluation(33, details={"threshold": 0.4025, **numbers})
    assert tell_shipped_thresholds({**shipped, "threshold": 0.4025}, calibrated) is None
    assert tell_shipped_thresholds({**shipped, "evaluation": 32}, logged) is None
    never = {"evaluation": 33, "threshold": "never"}
    assert tell_shipped_thresholds(never, logged) == "shipped at threshold never"
    band = {"evaluation": 33, "threshold": 0.5, "lower_threshold": 0.4}
    told = "shipped with these left undecided: scores from 0.4 to below 0.5"
    assert tell_shipped_thresholds(band, logged) == told


def test_values_with_the_rows_of_all_folds_together_are_told_apart_from_means_over_folds() -> None:
    path = DecisionPath(
        "balanced accuracy",
        (
            Stop(Thresholds(0.3), (0.2, 0.05), 0.8),
            Stop(Thresholds(0.4025), (0.1, 0.009254), 0.8),
        ),
    )
    details = {"threshold": 0.4025, PATH: path.as_details()}
    logged = an_evaluation(33, constraints=(0.1, 0.008423, 7.0), details=details)
    limits = {"fpr <= 0.4": 0.1, "recall_gap[sex] <= 0.5": 0.009254, "predict_ms <= 9": 8.0}
    shipped = {
        "evaluation": 33,
        "threshold": 0.4025,
        "certificate_sha256": "00",
        "constraints": limits,
    }
    assert tell_pooled_values(shipped, logged) == (
        "shipped with recall_gap[sex] <= 0.5: 0.009254, on the validation rows of all folds "
        "together"
    )
    # Of a run without a certificate both are means, and at another threshold no value is the same.
    for other in ({"certificate_sha256": None}, {"threshold": 0.3}, {"evaluation": 32}):
        assert tell_pooled_values({**shipped, **other}, logged) is None
    same = an_evaluation(33, constraints=(0.1, 0.009254, 7.0), details=details)
    assert tell_pooled_values(shipped, same) is None
