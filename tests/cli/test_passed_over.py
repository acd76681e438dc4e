"""A run whose best evaluation takes too long for its final fit says so wherever it is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.protocols import Finished
from automl_admm.core.ranking import rank
from automl_admm.pipelines import shipping
from automl_admm.runs import pipelines
from automl_admm.runs.finish.final_fit import Fitter, Refit, refit_best
from automl_admm.runs.finish.passed_over import too_long
from automl_admm.search.protocol import SearchProblem

Run = Callable[..., Any]
FEW = (
    "--grammar",
    "tiny",
    "--cv=2",
    "--max-evaluations",
    "4",
    "--executor",
    "inline",
    "-q",
    "--no-ensemble",
    "--no-racing",
)
TOO_LONG = "its final fit was expected to take up to 14.0 s, and 6.0 s were left"
SAID = "is better than what ships: its final fit was expected to take up to 1000000.0 s, and "


def with_a_slow_best(
    problem: SearchProblem, evaluations: Sequence[Evaluation], *given: Any
) -> tuple[Refit, Any]:
    """Make the final fit of a run that forecasts an age for that of the best evaluation."""
    best = rank(evaluations, problem.limits)[0]
    dispatch, _, closing, _ = given
    return refit_best(
        problem, evaluations, dispatch, lambda one: 1e6 if one is best else 0.0, closing
    )


def test_the_best_that_had_no_time_is_named_until_it_ships(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(pipelines, "refit_best", with_a_slow_best)
        fit = (
            "fit",
            table,
            "--target",
            "buys",
            *FEW,
            "--no-ensemble",
            "--no-racing",
            "--budget",
            "600s",
        )
        done = run(*fit, "--out", "RUN")
    assert done.code == 0, done.err
    assert "best pipeline" not in done.out
    assert done.out.startswith("pipeline that ships")
    (line,) = (one for one in done.out.splitlines() if one.startswith("NOT the best"))
    assert SAID in line
    assert line.endswith("Give a longer --budget, or go on: automl-admm resume RUN")
    passed = json.loads(Path("RUN/model.json").read_text())["passed_over"]
    first = run("leaderboard", "RUN")
    assert first.out.splitlines()[1].split()[0] == str(passed["evaluation"])
    assert passed["said"] in first.out
    assert run("report", "RUN").code == 0
    (told,) = (one for one in _warnings() if SAID in one)
    assert told.startswith(passed["said"])
    done = run("resume", "RUN", "--budget", "600s", "--max-evaluations", "4", "-q")
    assert done.code == 0, done.err
    assert done.out.startswith("best pipeline")
    manifest = json.loads(Path("RUN/model.json").read_text())
    assert (manifest["evaluation"], manifest["passed_over"]) == (passed["evaluation"], None)
    assert SAID not in run("leaderboard", "RUN").out


def test_a_certifying_run_says_why_it_tested_nothing_and_what_it_passed_over(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Fitter, "fit", lambda *_, **__: Finished(1, Status.MEMOUT))
        limit = ("--constraint", "size_mb <= 5", "--certify", "0.95")
        done = run("fit", table, "--target", "buys", *FEW, *limit, "--out", "RUN")
    assert done.code == 6, done.err
    why = "could not be fitted on all rows (memout)"
    assert why in done.err
    (line,) = (one for one in done.out.splitlines() if one.startswith("certificate"))
    assert line.split(maxsplit=1)[1].startswith("NOT CERTIFIED: evaluation #")
    assert why in line
    assert why in json.loads(Path("RUN/model.json").read_text())["untested"]
    assert run("report", "RUN").code == 0
    (told,) = (one for one in _warnings() if one.startswith("Nothing was certified: evaluation #"))
    assert why in told
    # The next session walks again, and says anew what it passes over.
    with monkeypatch.context() as patched:
        patched.setattr(pipelines, "examine", passing_over_another(pipelines.examine))
        done = run("resume", "RUN", "--max-evaluations", "5", "-q")
    assert done.code == 0, done.err
    assert "  CERTIFIED" in done.out
    assert done.out.startswith("pipeline that ships")
    assert TOO_LONG in done.out
    manifest = json.loads(Path("RUN/model.json").read_text())
    assert manifest["untested"] is None
    assert TOO_LONG in manifest["passed_over"]["said"]
    assert TOO_LONG in run("leaderboard", "RUN").out
    assert run("report", "RUN").code == 0
    assert any(TOO_LONG in one for one in _warnings())


def test_a_fit_that_went_wrong_is_told_wherever_it_ships_for_want_of_a_sound_one(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(shipping, "seen_loss", lambda *_: 9.0)
        done = run("fit", table, "--target", "buys", *FEW, "--json", "--out", "RUN")
    assert done.code == 0, done.err
    summary, manifest = json.loads(done.out), json.loads(Path("RUN/model.json").read_text())
    assert summary["went_wrong"] == manifest["went_wrong"]
    assert manifest["seen_loss"] == 9.0
    said = f"no sound model could be fitted; of the one that ships: {manifest['went_wrong']}."
    assert "on rows that it learned from its loss is 9" in said
    assert said in run("leaderboard", "RUN").out
    assert run("report", "RUN").code == 0
    assert f"{said[0].upper()}{said[1:]}" in _warnings()
    marked = f"the one that answers is none: {manifest['went_wrong']}"
    assert marked in run("predict", "RUN", table, "-o", "out.csv").err
    assert marked in run("evaluate", "RUN", table).err
    # The next session makes a sound one of the same pipeline.
    done = run("resume", "RUN", "--max-evaluations", "4", "-q")
    assert done.code == 0, done.err
    assert "no sound model" not in done.out
    assert json.loads(Path("RUN/model.json").read_text())["went_wrong"] is None


def passing_over_another(examine: Callable[..., Any]) -> Callable[..., Any]:
    """Make a walk that has no time for the last pipeline that it does not ship."""

    def call(evaluations: Sequence[Evaluation], *given: Any) -> Any:
        found = examine(evaluations, *given)
        others = [one for one in evaluations if one.ok and one.key != found.evaluation.key]
        return replace(found, passed=(too_long(others[-1], 14.0, 6.0),))

    return call


def _warnings() -> list[str]:
    content = json.loads(Path("RUN/report.json").read_text())
    return [str(one) for one in content["verdict"]["warnings"]]
