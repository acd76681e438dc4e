"""Runs whose ensemble is better than any single pipeline: what ships, and what if a part fails."""

from __future__ import annotations

import json
import logging
import math
import time
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_python
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from automl_admm import AutoMLClassifier, AutoMLRegressor, Constraint, Limit, load
from automl_admm.cli.main import main
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.protocols import Finished
from automl_admm.core.run import Stop, StopReason
from automl_admm.core.space import Candidate, Selection
from automl_admm.pipelines.as_code import undecided
from automl_admm.pipelines.ensembles.greedy import Purse
from automl_admm.pipelines.ensembles.task import EnsembleResult
from automl_admm.pipelines.ensembles.within import Within
from automl_admm.pipelines.work import PipelineWork
from automl_admm.runs import pipelines
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.closing import Closing
from automl_admm.runs.finish.ensemble_fit import FEWEST, EnsembleFit, Pool
from automl_admm.runs.prepare.preparation import prepare

RNG = np.random.default_rng(0)
# Trees alone are rough where a sum counts, and their mean is smoother.
X = pd.DataFrame(RNG.normal(size=(300, 5)), columns=list("abcde"))
SUM = X.sum(axis=1)
NUMBERS = (SUM + 0.5 * RNG.normal(size=300)).to_numpy()
WORDS = np.where(NUMBERS > 0, "yes", "no")
ROWS = pd.DataFrame(RNG.normal(size=(200, 5)), columns=list("abcde"))
GRAMMAR = "%import components (decision_tree)\n\nstart: decision_tree\n"
COUNT = FEWEST + 2


@pytest.fixture(scope="module")
def grammar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grammar") / "trees.lark"
    path.write_text(GRAMMAR)
    return path


def search(grammar: Path, **options: Any) -> Any:
    kind = options.pop("kind", AutoMLClassifier)
    known: dict[str, Any] = {
        "max_evaluations": COUNT,
        "cv": 2,
        "executor": "inline",
        "strategy": "joint",
        "theta_solver": "random",
        "random_state": 0,
        "racing": False,  # what is stopped early is no candidate
    }
    return kind(grammar, **known | options)


@pytest.fixture(scope="module")
def run(grammar: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """A search whose ensemble ships, and its folder."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    rows = folder.parent / "rows.csv"
    X.assign(y=WORDS).to_csv(rows, index=False)
    return search(grammar, work_dir=folder).fit(X, WORDS), folder


def manifest_of(folder: Path) -> Any:
    return json.loads((folder / "model.json").read_text())


def gone_on(grammar: Path, run: tuple[Any, Path], to: Path, **options: Any) -> Any:
    """Conclude the same run anew, in a copy of its folder."""
    copytree(run[1], to)
    (to / "model.json").unlink()
    return search(grammar, work_dir=to, warm_start=True, **options).fit(X, WORDS)


def test_an_ensemble_ships_with_its_weights(run: tuple[Any, Path]) -> None:
    found, folder = run
    assert isinstance(found.best_pipeline_, VotingClassifier)
    told, manifest = found.ensemble_, manifest_of(folder)
    assert manifest["ensemble"] == told
    assert manifest["evaluation"] is None
    assert [one["weight"] for one in told["members"]] == found.best_pipeline_.weights
    assert [f"pipeline_{one['evaluation']}" for one in told["members"]] == [
        name for name, _ in found.best_pipeline_.estimators
    ]
    assert told["gain"] > told["error"] > 0
    assert manifest["validation_score"] == found.best_score_ > told["single"]["validation_score"]
    assert told["single"]["validation_score"] == found.leaderboard()["score"][0]
    by_hand = [pipeline.predict_proba(ROWS) for pipeline in found.best_pipeline_.estimators_]
    averaged = np.average(by_hand, axis=0, weights=found.best_pipeline_.weights)
    assert found.predict_proba(ROWS) == pytest.approx(averaged)
    truth = np.where(ROWS.sum(axis=1) > 0, "yes", "no")
    single = found.best_pipeline_.estimators_[0]
    assert found.score(ROWS, truth) > (single.predict(ROWS) == truth).mean()


def test_the_folder_gives_the_same_model_back(run: tuple[Any, Path]) -> None:
    found, folder = run
    assert (load(folder).predict_proba(ROWS) == found.predict_proba(ROWS)).all()
    assert "ensemble: roc_auc" in found._repr_html_()


def test_the_script_fits_the_same_ensemble(run: tuple[Any, Path], tmp_path: Path) -> None:
    found, folder = run
    ROWS.to_csv(tmp_path / "new.csv", index=False)
    words = [folder / "pipeline.py", folder.parent / "rows.csv", "new.csv", "out.csv"]
    content = words[0].read_text().replace('TARGET = "target"', 'TARGET = "y"')
    (tmp_path / "pipeline.py").write_text(content.replace('"target": {', '"y": {'))
    words[0] = tmp_path / "pipeline.py"
    done = run_python(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made = pd.read_csv(tmp_path / "out.csv")
    assert made["probability_yes"].to_numpy() == pytest.approx(found.predict_proba(ROWS)[:, 1])


def test_the_leaderboard_tells_of_it(run: tuple[Any, Path], capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["leaderboard", str(run[1])])
    assert ended.value.code == 0
    told = " ".join(capsys.readouterr().out.split())
    shares = [one["weight"] for one in run[0].ensemble_["members"]]
    heaviest = run[0].ensemble_["members"][0]
    share = f"{100 * shares[0] / sum(shares):.0f} % #{heaviest['evaluation']}"
    assert f"what shipped is an ensemble with roc_auc {run[0].best_score_:.4f}: {share}" in told


def test_the_same_seed_gives_the_same_ensemble_and_a_later_session_as_well(
    run: tuple[Any, Path], grammar: Path, tmp_path: Path
) -> None:
    again = gone_on(grammar, run, tmp_path / "again")
    assert again.ensemble_ == run[0].ensemble_
    assert (again.predict_proba(ROWS) == run[0].predict_proba(ROWS)).all()


def test_a_later_session_keeps_the_ensemble_if_the_single_pipeline_is_worse(
    run: tuple[Any, Path], grammar: Path, tmp_path: Path
) -> None:
    copytree(run[1], tmp_path / "run")
    known = search(grammar, work_dir=tmp_path / "run", warm_start=True, ensemble=False)
    known.fit(X, WORDS)
    assert known.ensemble_ == run[0].ensemble_
    assert known.best_score_ == run[0].best_score_
    assert (known.predict_proba(ROWS) == run[0].predict_proba(ROWS)).all()


def test_without_the_option_the_single_pipeline_ships(
    run: tuple[Any, Path], grammar: Path, tmp_path: Path
) -> None:
    found = gone_on(grammar, run, tmp_path / "single", ensemble=False)
    assert isinstance(undecided(found.best_pipeline_), Pipeline)
    assert found.ensemble_ is None
    assert found.best_text_ == run[0].ensemble_["single"]["pipeline"]
    assert manifest_of(tmp_path / "single")["ensemble"] is None
    assert manifest_of(tmp_path / "single")["alone"] is None


def test_few_evaluations_give_no_ensemble_and_that_is_said(grammar: Path, tmp_path: Path) -> None:
    found = search(grammar, max_evaluations=FEWEST - 1, racing=False, work_dir=tmp_path / "run")
    assert found.fit(X, WORDS).ensemble_ is None
    told = f"there are {FEWEST - 1} of the {FEWEST} candidates that it needs"
    assert manifest_of(tmp_path / "run")["alone"] == told


def test_a_gain_that_is_none_is_said(
    run: tuple[Any, Path], grammar: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    read = EnsembleResult.from_json

    def without_gain(found: Any) -> EnsembleResult:
        return read(found | {"gain": -0.25, "error": 0.125})

    monkeypatch.setattr(EnsembleResult, "from_json", without_gain)
    assert gone_on(grammar, run, tmp_path / "run").ensemble_ is None
    told = "the best average gains -0.25 ± 0.12 on rows that did not choose it"
    assert manifest_of(tmp_path / "run")["alone"] == told


@pytest.mark.fault(
    "F100", injected="a member's predictions are cut off", expected="a line; it goes on without it"
)
def test_a_member_whose_file_is_damaged_is_left_out(
    run: tuple[Any, Path], grammar: Path, tmp_path: Path, caplog: Any, seen: Any
) -> None:
    number = run[0].ensemble_["members"][0]["evaluation"]
    copytree(run[1], tmp_path / "run")
    (tmp_path / "run" / "model.json").unlink()
    file = tmp_path / "run" / "predictions" / f"{number}.npz"
    file.write_bytes(file.read_bytes()[:-100])
    with caplog.at_level(logging.WARNING, logger="automl_admm"):
        found = search(grammar, work_dir=tmp_path / "run", warm_start=True).fit(X, WORDS)
    (line,) = [record.getMessage() for record in caplog.records]
    assert f"the kept predictions of evaluation {number} are damaged" in line
    assert "\n" not in line
    assert number not in [one["evaluation"] for one in found.ensemble_["members"]]
    seen(line)


def test_a_member_that_cannot_be_fitted_is_left_out(
    run: tuple[Any, Path], grammar: Path, tmp_path: Path, caplog: Any, monkeypatch: Any
) -> None:
    members = run[0].ensemble_["members"]
    failing = next(
        m for m in members if m["evaluation"] != run[0].ensemble_["single"]["evaluation"]
    )
    refit = PipelineWork.refit

    def fail(work: PipelineWork, candidate: Any, *args: Any, **more: Any) -> Any:
        if work.space.text(candidate) == failing["pipeline"]:
            raise MemoryError("too large")
        return refit(work, candidate, *args, **more)

    monkeypatch.setattr(PipelineWork, "refit", fail)
    with caplog.at_level(logging.WARNING, logger="automl_admm"):
        found = gone_on(grammar, run, tmp_path / "run")
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith(
        f"evaluation {failing['evaluation']} is left out of the ensemble: memout"
    )
    left = [one["evaluation"] for one in found.ensemble_["members"]]
    assert len(left) > 1
    assert failing["evaluation"] not in left


@pytest.mark.parametrize("method", ["assemble", "choose_ensemble"])
def test_if_it_cannot_be_made_the_single_pipeline_ships(
    run: tuple[Any, Path],
    grammar: Path,
    tmp_path: Path,
    caplog: Any,
    monkeypatch: Any,
    method: str,
) -> None:
    def fail(*args: Any, **more: Any) -> Any:
        raise RuntimeError("no")

    monkeypatch.setattr(PipelineWork, method, fail)
    with caplog.at_level(logging.WARNING, logger="automl_admm"):
        found = gone_on(grammar, run, tmp_path / "run")
    assert len(caplog.records) == 1
    assert found.ensemble_ is None
    assert isinstance(undecided(found.best_pipeline_), Pipeline)


def test_an_interrupt_leaves_the_single_pipeline(
    run: tuple[Any, Path], grammar: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """From Python an interrupt is raised where it comes: here, while the members are fitted."""

    def interrupt(*args: Any, **more: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(EnsembleFit, "run", interrupt)
    found = gone_on(grammar, run, tmp_path / "run")
    assert found.ensemble_ is None
    assert found.best_text_ == run[0].ensemble_["single"]["pipeline"]
    assert load(tmp_path / "run").predict(ROWS).shape == (200,)


def test_after_an_interrupt_of_the_search_no_ensemble_is_fitted() -> None:
    result = type("Result", (), {"stop": Stop(StopReason.TERMINATION)})
    config = type("Config", (), {"ensemble": True})
    prepared = type("Prepared", (), {"config": config, "aside": None})
    ending: Any = type("Ending", (), {"prepared": prepared, "closing": Closing(None)})
    ending.result = result
    single: Any = object(), object()
    assert pipelines._ensemble(ending, *single) == single


# --- limits --------------------------------------------------------------------------------------


def test_sizes_add_up_within_a_limit(run: tuple[Any, Path], grammar: Path, tmp_path: Path) -> None:
    """Half the size of the free ensemble: fewer members, or smaller ones, ship within it."""
    size = (run[1] / "model.skops").stat().st_size / 2e6
    limit = f"size_mb <= {size:.4f}"
    found = search(grammar, constraints=[limit], work_dir=tmp_path / "run").fit(X, WORDS)
    assert found.feasible_
    assert found.ensemble_ is not None
    assert len(found.ensemble_["members"]) < len(run[0].ensemble_["members"])
    assert (tmp_path / "run" / "model.skops").stat().st_size <= size * 1e6
    assert manifest_of(tmp_path / "run")["constraints"][limit] <= size


def test_an_ensemble_outside_a_limit_as_a_whole_does_not_ship(
    grammar: Path, tmp_path: Path, caplog: Any
) -> None:
    """The cost of an own function does not add up for all that is known: it is measured."""

    def members(evaluated: Any) -> float:
        return float(len(getattr(evaluated.pipeline, "estimators_", [1])))

    limit = Constraint(Limit("members", 1.0), members, any_rows=True)
    with caplog.at_level(logging.WARNING, logger="automl_admm"):
        found = search(grammar, constraints=[limit], work_dir=tmp_path / "run").fit(X, WORDS)
    assert found.ensemble_ is None
    assert found.feasible_
    assert manifest_of(tmp_path / "run")["alone"].startswith("the best average is outside the lim")
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("the single best pipeline ships: the ensemble is outside the limits")
    assert "members" in line


def test_an_ensemble_that_costs_more_than_its_members_is_chosen_anew_with_cheaper_ones(
    run: tuple[Any, Path], grammar: Path, caplog: Any
) -> None:
    """As with latency: what calls the members takes time, too."""

    def weight(evaluated: Any) -> float:
        members = getattr(evaluated.pipeline, "estimators_", None)
        return 1.0 if members is None else 1.2 * len(members)

    most = len(run[0].ensemble_["members"])
    limit = Constraint(Limit("weight", float(most)), weight, adds_up=True)
    with caplog.at_level(logging.WARNING, logger="automl_admm"):
        found = search(grammar, constraints=[limit]).fit(X, WORDS)
    assert found.feasible_
    assert found.ensemble_ is not None
    assert 1 < len(found.ensemble_["members"]) < most
    assert not caplog.records


def wrong(evaluated: Any) -> float:
    return float(np.mean(evaluated.decisions != evaluated.y))


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (
            "falling_breaks_0.5[a] <= 0.99",
            "limit 'falling_breaks_0.5[a]' needs rows from which no member learned",
        ),
        (
            Constraint(Limit("wrong", 0.9), wrong),
            "limit 'wrong' needs rows from which no member learned (any_rows=True says",
        ),
    ],
    ids=["changed rows", "own function"],
)
def test_no_ensemble_ships_within_a_limit_that_needs_rows_its_members_did_not_learn_from(
    limit: Any, reason: str, grammar: Path, tmp_path: Path
) -> None:
    found = search(grammar, constraints=[limit], work_dir=tmp_path / "run").fit(X, WORDS)
    manifest = manifest_of(tmp_path / "run")
    assert found.ensemble_ is None
    assert found.feasible_
    assert manifest["alone"].startswith(reason)
    ((name, value),) = manifest["constraints"].items()
    assert value in found.cv_results_[name.partition(" ")[0]]


def test_members_are_chosen_for_a_limit_that_no_threshold_moves(
    grammar: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """Of trees one is too large on average and one too small: their mean has the bias asked for."""
    limit, options = "bias <= -0.04", {"kind": AutoMLRegressor, "constraints": ["bias <= -0.04"]}
    found = search(grammar, work_dir=tmp_path / "run", **options).fit(X, NUMBERS)
    manifest = manifest_of(tmp_path / "run")
    assert found.feasible_
    members = found.ensemble_["members"]
    assert manifest["constraints"][limit] <= -0.04
    assert any(found.cv_results_["bias"][one["evaluation"] - 1] > -0.04 for one in members)
    monkeypatch.setattr(Within, "of", lambda work: None)
    assert search(grammar, **options).fit(X, NUMBERS).ensemble_ is None


def test_thresholds_are_chosen_for_the_ensemble(grammar: Path, tmp_path: Path) -> None:
    limits = ["fpr <= 0.1", "columns <= 5"]
    found = search(grammar, constraints=limits, work_dir=tmp_path / "run").fit(X, WORDS)
    assert found.ensemble_ is not None
    model, manifest = found.best_pipeline_, manifest_of(tmp_path / "run")
    assert isinstance(model, FixedThresholdClassifier)
    assert isinstance(model.estimator_.estimator, VotingClassifier)
    assert found.feasible_
    assert manifest["constraints"]["fpr <= 0.1"] <= 0.1
    assert manifest["constraints"]["columns <= 5"] == 5
    assert manifest["threshold"] == model.threshold == found.decisions_.threshold
    assert (load(tmp_path / "run").predict(ROWS) == found.predict(ROWS)).all()
    code = (tmp_path / "run" / "pipeline.py").read_text()
    assert "VotingClassifier(" in code
    assert "FixedThresholdClassifier(" in code


def test_a_regression_averages_its_predictions(grammar: Path) -> None:
    found = search(grammar, kind=AutoMLRegressor).fit(X, NUMBERS)
    model = found.best_pipeline_
    assert isinstance(model, VotingRegressor)
    by_hand = np.average(
        [m.predict(ROWS) for m in model.estimators_], axis=0, weights=model.weights
    )
    assert found.predict(ROWS) == pytest.approx(by_hand)
    assert isinstance(found.ensemble_["gain"], float)


# --- candidates within other limits -----------------------------------------------------------


def fit_within(*limits: str) -> EnsembleFit:
    fit = fit_ending_in(math.inf, 1.0)
    config = RunConfig(grammar="tiny", task="classification", cv=2, constraints=limits)
    fit.prepared = prepare(config, X, pd.Series(WORDS))
    return fit


def pool_of(*values: tuple[float, ...]) -> Pool:
    """Pipelines whose limits have these values."""
    some = [
        Evaluation(number, f"k{number}", Candidate(Selection(()), ()), Status.SUCCESS, 0.1, told)
        for number, told in enumerate(values)
    ]
    return Pool(tuple(some), tuple(np.zeros(2) for _ in some))


def asked_for(fit: EnsembleFit, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the evaluations among which it chooses."""
    asked: list[Pool] = []
    monkeypatch.setattr(fit, "choose", asked.append)
    fit.choose_fitted(pool)
    return [one.number for one in asked[0].evaluations]


STILL, MOVED = "calibration_error <= 0.2", "fpr <= 0.1"
# Within both limits, outside the first, outside the second.
KEEPS, BREAKS, REFUSED = (0.1, 0.05), (0.3, 0.05), (0.1, 0.5)


def test_what_another_limit_refuses_is_a_candidate_only_where_few_keep_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit = fit_within(STILL, MOVED)
    helpful = [KEEPS, *[BREAKS] * (FEWEST - 1)]
    assert asked_for(fit, pool_of(*helpful, REFUSED), monkeypatch) == list(range(FEWEST))
    few = pool_of(*helpful[1:], REFUSED, REFUSED)
    assert asked_for(fit, few, monkeypatch) == list(range(FEWEST + 1))
    # A member that failed leaves too few.
    fit.failed.add("k0")
    assert asked_for(fit, pool_of(*helpful, REFUSED), monkeypatch) == list(range(1, FEWEST + 1))


def test_what_another_limit_refuses_is_none_to_beat() -> None:
    fit = fit_within(STILL, MOVED)
    purse = Purse(**fit._costs(pool_of(KEEPS, BREAKS, REFUSED).evaluations))
    assert purse.singles.tolist() == [True, True, False]
    assert purse.affords(np.zeros(3, dtype=np.intp)).all()
    # Where all are refused, the one to beat is among them.
    assert Purse(**fit._costs(pool_of(REFUSED, REFUSED).evaluations)).singles.all()


@pytest.mark.parametrize("limit", [STILL, MOVED])
def test_with_one_limit_alone_all_are_candidates_and_may_have_to_be_beaten(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit, pool = fit_within(limit), pool_of(*[(0.05,)] * FEWEST, (0.5,))
    assert asked_for(fit, pool, monkeypatch) == list(range(FEWEST + 1))
    assert Purse(**fit._costs(pool.evaluations)).singles.all()


# --- time ----------------------------------------------------------------------------------------


def fit_ending_in(seconds: float, expected: float, wrong: str | None = None) -> EnsembleFit:
    table = type("Table", (), {"classes": None})
    work = type("Work", (), {"constraints": (), "aims": (), "table": table})
    prepared: Any = type("Prepared", (), {"constraints": (), "aims": (), "work": work})
    press: Any = type("Press", (), {"closing": Closing(time.monotonic() + seconds)})
    evaluation = type("Evaluation", (), {"key": "done"})
    single: Any = type("Refit", (), {"evaluation": evaluation, "went_wrong": wrong})
    fitted = {"done": Finished(1, Status.SUCCESS)}
    return EnsembleFit(prepared, press, lambda one: expected, single, fitted)


def test_the_fits_have_to_fit_into_the_time_left() -> None:
    evaluations: Any = [type("Evaluation", (), {"key": key}) for key in ("done", "other")]
    costs, most, alone = fit_ending_in(60.0, 4.0)._costs(evaluations).values()
    assert costs.tolist() == [[0.0], [4.0]]
    assert 30.0 < most[0] <= 52.0 + 1e-6  # a busy machine has less left
    assert alone.tolist() == most.tolist()


def test_without_time_for_it_nothing_is_tried() -> None:
    assert fit_ending_in(1.0, 1.0)._is_over
    assert not fit_ending_in(60.0, 1.0)._is_over


def test_a_single_pipeline_whose_fit_went_wrong_is_no_member() -> None:
    assert fit_ending_in(60.0, 1.0, wrong="its fit on all rows went wrong").failed == {"done"}
    assert not fit_ending_in(60.0, 1.0).failed
