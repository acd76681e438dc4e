"""A run goes on where it stopped; what changed meanwhile is told, and nothing is made twice."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.cli.shared import run_command as conducting
from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.data.reading import feeding, pieces, timed_reading
from automl_admm.execution.server.client import ServerProcess
from automl_admm.runs import measured_anew
from automl_admm.runs.kept_predictions import KeptPredictions
from automl_admm.runs.session.begun_change import begin_change
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite import connection
from automl_admm.store.sqlite.log import SqliteStore

GRAMMAR = """\
%import components (impute, standard_scaler, logistic_regression, gaussian_nb)
start: impute standard_scaler? estimator
estimator: logistic_regression | gaussian_nb
"""
LIMIT = "columns <= 3"
Seen = Callable[[str], None]


@pytest.fixture
def grammar(tmp_path: Path) -> Path:
    path = tmp_path / "mine.lark"
    path.write_text(GRAMMAR, encoding="utf-8")
    return path


def rows(folder: Path) -> list[Evaluation]:
    store = SqliteStore(folder / "store.sqlite")
    try:
        return list(store.read())
    finally:
        store.close()


def seen(folder: Path) -> list[tuple[Any, ...]]:
    return [(e.number, e.key, e.candidate, e.status, e.loss) for e in rows(folder)]


def winner(folder: Path) -> str:
    return str(json.loads((folder / "model.json").read_text())["pipeline"])


def start(run: Any, table: Path, grammar: Path, name: str, count: int, *more: str) -> Any:
    return run(
        *("fit", table, "--target", "buys", "--grammar", grammar, "--out", name, "-q"),
        *("--constraint", LIMIT, "--cv=2", "--max-evaluations", str(count), "--executor", "inline"),
        *more,
    )


def test_a_run_in_two_parts_is_the_run_in_one(
    run: Any, table: Path, grammar: Path, tmp_path: Path
) -> None:
    assert start(run, table, grammar, "whole", 6).code == 0
    assert start(run, table, grammar, "parts", 3).code == 0
    ended = run("resume", "parts", "--max-evaluations", "+3", "-q")
    assert ended.code == 0, ended.err
    assert seen(tmp_path / "parts") == seen(tmp_path / "whole")
    assert winner(tmp_path / "parts") == winner(tmp_path / "whole")
    sessions = json.loads((tmp_path / "parts" / "run.json").read_text())["sessions"]
    assert len(sessions) == 2


def test_the_fork_server_of_resume_is_a_fork_of_the_program(
    run: Any, table: Path, grammar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert start(run, table, grammar, "out", 1).code == 0
    servers: list[bool] = []
    begin = ServerProcess._begin

    def noted(server: ServerProcess, *given: Any) -> None:
        servers.append(server._may_fork)
        begin(server, *given)

    monkeypatch.setattr(ServerProcess, "_begin", noted)
    more = ("--executor", "local", "--max-evaluations", "+1", "-q")
    ended = run("resume", "out", *more)
    assert ended.code == 0, ended.err
    assert servers == [True], "one server, which imports nothing by itself where it may be forked"


def test_a_run_with_a_time_budget_goes_on_from_all_that_it_knows(
    run: Any, spawn: Any, table: Path, grammar: Path, tmp_path: Path
) -> None:
    assert start(run, table, grammar, "timed", 4).code == 0
    before = seen(tmp_path / "timed")
    more = ("--budget", "600s", "--max-evaluations", "8", "--workers", "2", "--executor", "local")
    ended = spawn("resume", "timed", *more)
    assert ended.code == 0, ended.err
    assert "goes on after 4 evaluations" in ended.err
    after = seen(tmp_path / "timed")
    assert after[:4] == before
    assert len(after) > 4
    assert len({key for _, key, *_ in after}) == len(after)


@pytest.mark.fault(
    "F66",
    injected="a resume has no time to fit the best that is known again",
    expected="the model that was there stays",
)
def test_a_resume_that_has_too_little_time_keeps_the_better_model(
    run: Any,
    table: Path,
    grammar: Path,
    tmp_path: Path,
    seen: Seen,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The best takes hours to fit again, as far as the log knows: a worse one is quicker."""
    assert start(run, table, grammar, "short", 4).code == 0
    folder = tmp_path / "short"
    before = json.loads((folder / "model.json").read_text())
    content = (folder / "model.skops").read_bytes()
    original = SqliteStore.read

    def read(store: SqliteStore) -> list[Evaluation]:
        return [
            replace(e, details={**e.details, "fit_seconds": 6000.0})
            if e.number == before["evaluation"]
            else e
            for e in original(store)
        ]

    monkeypatch.setattr(SqliteStore, "read", read)
    ended = run("resume", "short", "--budget", "600s", "--max-evaluations", "5", "-q")
    assert ended.code == 0, ended.err
    after = json.loads((folder / "model.json").read_text())
    assert after["validation_score"] == before["validation_score"]
    assert (folder / "model.skops").read_bytes() == content
    assert ended.out.startswith(f"best pipeline  {before['pipeline']}")
    assert run("predict", "short", table).code == 0
    seen(f"kept: validation {after['validation_score']:.3f}, as before")


@pytest.mark.fault(
    "F64",
    injected="the budget is too short to read the file",
    expected="a share of it is read, said, and the same again at resume",
)
def test_a_run_on_a_share_of_a_file_goes_on_with_that_share(
    run: Any,
    table: Path,
    grammar: Path,
    tmp_path: Path,
    seen: Seen,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(timed_reading, "SHORT_BYTES", 0)
    monkeypatch.setattr(pieces, "LEAST_BYTES", 100)
    monkeypatch.setattr(feeding, "FEWEST", 8)
    monkeypatch.setattr(conducting, "READING", 1e-9)
    began = run(
        *("fit", table, "--target", "buys", "--grammar", grammar, "--out", "part"),
        *("--cv=2", "--max-evaluations", "2", "--budget", "600s", "--test-size", "0.3"),
        *("--executor", "inline"),
    )
    assert began.code == 0, began.err
    assert "of the file were read, from all over it" in began.err
    assert "of the file, in the time given" in began.out
    before = json.loads((tmp_path / "part" / "run.json").read_text())
    assert before["data"]["rows"] < 100
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    ended = run("resume", "part", "--max-evaluations", "3", "--budget", "600s", "-q")
    assert ended.code == 0, ended.err
    after = json.loads((tmp_path / "part" / "run.json").read_text())
    assert after["data"] == before["data"]
    assert after["request"]["share"] == before["request"]["share"]
    seen(f"{before['data']['rows']} rows of {len(pd.read_csv(table))} searched, before and after")


def test_a_finished_run_needs_to_be_given_more(run: Any, table: Path, grammar: Path) -> None:
    assert start(run, table, grammar, "done", 3).code == 0
    ended = run("resume", "done")
    assert ended.code == 2
    assert ended.err.startswith("error: the run in 'done' is finished (evaluations). Give it more:")


def test_what_is_no_run_cannot_go_on(run: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "nowhere"):
        ended = run("resume", name)
        assert ended.code == 7
        assert f"'{name}' holds no run.json" in ended.err


@pytest.mark.fault(
    "F33",
    injected="other limits on resume",
    expected="exit 7 with the difference; allowed on request",
)
def test_other_limits_are_refused_and_can_be_allowed(
    run: Any,
    table: Path,
    grammar: Path,
    tmp_path: Path,
    seen: Seen,
    caplog: pytest.LogCaptureFixture,
) -> None:
    # Nothing is within the new limits, so nothing that a race stopped would count.
    assert start(run, table, grammar, "limits", 4, "--no-racing").code == 0
    more = ("resume", "limits", "--max-evaluations", "6", "-q", "--constraint")
    refused = run(*more, "columns <= 2")
    assert refused.code == 7
    seen(f"exit 7: {refused.err.strip()[7:]}")
    assert "limits: columns <= 3 → columns <= 2" in refused.err
    assert len(rows(tmp_path / "limits")) == 4
    assert run(*more, "columns <= 2", "--allow-changed", "--on-infeasible", "closest").code == 0
    assert len(rows(tmp_path / "limits")) >= 4
    # No threshold hangs on this bound: all of the log still means the same.
    assert not (tmp_path / "limits" / "store.before-1.sqlite").exists()
    known = len(rows(tmp_path / "limits"))
    other = run(*more, "size_mb <= 50", "--allow-changed")
    assert other.code == 0, other.err
    # Something else is measured now: what was known is put away, and its best tried anew.
    told = f"(limits: columns <= 2 → size_mb <= 50): {known} of {known} evaluations go"
    assert told in caplog.text
    assert (tmp_path / "limits" / "store.before-1.sqlite").is_file()
    assert all(e.constraints[0] < 50 for e in rows(tmp_path / "limits") if e.ok)
    # Nobody gave them, nor did anybody once the run went on again.
    assert run("resume", "limits", "--max-evaluations", "+1", "-q").code == 0
    told = run("explain", "limits", "1").out
    assert "proposed    by the best of an earlier session or of another run" in told


@pytest.mark.fault(
    "F33",
    injected="another grammar on resume",
    expected="exit 7 with the difference; allowed on request",
)
def test_another_grammar_keeps_the_pipelines_that_it_still_has(
    run: Any, table: Path, grammar: Path, tmp_path: Path, seen: Seen
) -> None:
    assert start(run, table, grammar, "shapes", 8).code == 0
    before = rows(tmp_path / "shapes")
    other = tmp_path / "other.lark"
    other.write_text(
        GRAMMAR.replace(" | gaussian_nb", " | k_neighbors").replace("gaussian_nb)", "k_neighbors)"),
        encoding="utf-8",
    )
    more = ("resume", "shapes", "--max-evaluations", "+1", "-q", "--grammar", other)
    refused = run(*more)
    assert refused.code == 7
    seen(f"exit 7: {refused.err.strip()[7:]}")
    assert "grammar, line 1:" in refused.err
    ended = run(*more, "--allow-changed")
    assert ended.code == 0, ended.err
    kept = {e.text for e in before if "logistic" in e.text}
    assert kept
    assert kept <= {e.text for e in rows(tmp_path / "shapes")}
    assert not any("gaussian_nb" in e.text for e in rows(tmp_path / "shapes"))
    assert (tmp_path / "shapes" / "grammar.lark").read_text() == other.read_text()


def test_classes_that_options_of_the_run_name_cannot_be_renamed(
    run: Any, table: Path, grammar: Path, tmp_path: Path
) -> None:
    usual = ("--target", "buys", "--grammar", grammar, "--cv=2", "--executor", "inline", "-q")
    other = pd.read_csv(table)
    other["buys"] = other["buys"].map({"yes": "bought", "no": "left"})
    other.to_csv(tmp_path / "other.csv", index=False)
    for option in (("--positive", "yes"), ("--cost", "yes->no=5, *->*=1")):
        made = run("fit", table, *usual, "--max-evaluations", "1", "--out", option[0][2:], *option)
        assert made.code == 0, made.err
        more = ("resume", option[0][2:], tmp_path / "other.csv", "--max-evaluations", "+1", "-q")
        for allowed in ((), ("--allow-changed",)):
            refused = run(*more, *allowed)
            assert refused.code == 2
            assert "'bought', 'left'" in refused.err
            assert f"begun with {option[0]}, which resume can neither change" in refused.err


def test_a_positive_class_of_python_is_that_class_on_the_command_line(
    run: Any, grammar: Path, tmp_path: Path
) -> None:
    ages = np.random.default_rng(0).normal(size=60)
    rows = pd.DataFrame({"age": ages, "buys": (ages > 0).astype(int)})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    usual = {"grammar": grammar, "cv": 2, "executor": "inline", "max_evaluations": 1}
    for positive in (True, False):
        folder = tmp_path / str(positive)
        search = AutoMLClassifier(**usual, positive=positive, work_dir=folder)
        search.fit(rows[["age"]], rows["buys"])
        done = run("resume", folder, tmp_path / "rows.csv", "--max-evaluations", "+1", "-q")
        assert done.code == 0, done.err
        model = json.loads((folder / "model.json").read_text())
        assert model["positive"] == str(int(positive))
    words = ("--target", "buys", "--grammar", grammar, "--max-evaluations", "1")
    refused = run("fit", tmp_path / "rows.csv", *words, "--positive", "true", "--out", "no")
    assert refused.code == 2
    assert "error: there is no class 'true' in the target" in refused.err


@pytest.mark.fault(
    "F33",
    injected="other data on resume",
    expected="exit 7 with the difference; allowed on request",
)
def test_other_data_are_refused_and_make_everything_new(
    run: Any, table: Path, grammar: Path, tmp_path: Path, seen: Seen
) -> None:
    assert start(run, table, grammar, "data", 4).code == 0
    frame = pd.read_csv(table)
    frame.iloc[:-1].to_csv(tmp_path / "fewer.csv", index=False)
    more = ("resume", "data", tmp_path / "fewer.csv", "--max-evaluations", "5", "-q")
    refused = run(*more)
    assert refused.code == 7
    seen(f"exit 7: {refused.err.strip()[7:]}")
    assert "data: 128 rows" in refused.err
    ended = run(*more, "--allow-changed")
    assert ended.code == 0, ended.err
    assert len(rows(tmp_path / "data")) == 5
    assert (tmp_path / "data" / "store.before-1.sqlite").is_file()
    assert not (tmp_path / "data" / "change.json").exists()
    made = {path.stem for path in (tmp_path / "data" / "predictions").iterdir()}
    assert made <= {str(one.number) for one in rows(tmp_path / "data")}
    assert json.loads((tmp_path / "data" / "run.json").read_text())["title"] == "fewer"
    moved = run("resume", "data", table.with_name("gone.csv"), "--max-evaluations", "+1")
    assert moved.code == 3
    assert "gone.csv" in moved.err


def test_a_change_that_was_cut_short_is_undone_by_the_next_resume(
    run: Any, table: Path, grammar: Path, tmp_path: Path
) -> None:
    assert start(run, table, grammar, "cut", 3).code == 0
    folder, before = RunFolder(tmp_path / "cut"), seen(tmp_path / "cut")
    log = begin_change(folder, is_void=True)
    with closing(SqliteStore(folder.store, write=True)) as store:
        store.begin_anew([], copy=log)
    for words in (("leaderboard", "cut"), ("store", "check", "cut")):
        told = run(*words)
        assert told.code == 7
        assert "in the middle of a change of its data or settings" in told.err
    done = run("resume", "cut", "--max-evaluations", "4", "-q")
    assert done.code == 0, done.err
    (told,) = [line for line in done.err.splitlines() if "evaluations before it are back" in line]
    assert told.startswith("warning: ")
    assert seen(tmp_path / "cut")[:3] == before
    assert not folder.change.exists()


def test_an_estimator_goes_on_in_its_work_dir(table: Path, grammar: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(table)
    X, y = frame.drop(columns="buys"), frame["buys"]
    usual = {"grammar": grammar, "cv": 2, "random_state": 0, "executor": "inline"}
    settings = {**usual, "work_dir": tmp_path / "kept"}
    first = AutoMLClassifier(**settings, max_evaluations=3, warm_start=True).fit(X, y)
    again = AutoMLClassifier(**settings, max_evaluations=6, warm_start=True).fit(X, y)
    whole = AutoMLClassifier(**usual, max_evaluations=6).fit(X, y)
    assert first.n_evaluations_ == 3
    assert list(again.cv_results_["pipeline"]) == list(whole.cv_results_["pipeline"])
    with pytest.raises(StoreError, match="metric"):
        AutoMLClassifier(**settings, max_evaluations=7, warm_start=True, scoring="f1_macro").fit(
            X, y
        )
    with pytest.raises(ValueError, match="set work_dir"):
        AutoMLClassifier(warm_start=True).fit(X, y)


@pytest.fixture
def noisy(tmp_path: Path) -> Path:
    """Rows whose classes overlap, so that every threshold pays for one rate by the other."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(900, 3)), columns=["a", "b", "c"])
    frame["buys"] = np.where(frame["a"] + 0.8 * rng.normal(size=900) > 0.8, "yes", "no")
    path = tmp_path / "noisy.csv"
    frame.to_csv(path, index=False)
    return path


def within(fpr: str, recall: str) -> tuple[str, ...]:
    return "--constraint", f"fpr <= {fpr}", "--constraint", f"recall >= {recall}"


def test_thresholds_are_chosen_anew_for_changed_limits(
    run: Any, noisy: Path, grammar: Path, tmp_path: Path
) -> None:
    """Those of the log are for the limits of then: judged by them, a good pipeline is outside."""
    usual = ("--target", "buys", "--grammar", grammar, "--cv=2", "--executor", "inline", "-q")
    strict, loose = within("0.01", "0.95"), within("0.2", "0.5")
    asked = ("fit", noisy, *usual, "--max-evaluations", "3")
    assert run(*asked, *strict, "--out", "changed").code == 5
    more = ("resume", "changed", "--max-evaluations", "4", "--executor", "inline", "-q")
    done = run(*more, *loose, "--allow-changed")
    assert done.code == 0, done.err
    assert run(*asked, *loose, "--out", "fresh").code == 0
    pairs = zip(rows(tmp_path / "changed")[:3], rows(tmp_path / "fresh"), strict=True)
    for changed, fresh in pairs:
        assert (changed.key, changed.loss) == (fresh.key, fresh.loss)
        assert changed.constraints == fresh.constraints
        assert changed.details["threshold"] == fresh.details["threshold"]


def test_limits_in_another_order_ask_for_nothing_else(
    run: Any, noisy: Path, grammar: Path, tmp_path: Path
) -> None:
    usual = ("--target", "buys", "--grammar", grammar, "--cv=2", "--executor", "inline", "-q")
    first = ("--constraint", "fpr <= 0.2", "--constraint", "recall >= 0.5", "--out", "RUN")
    assert run("fit", noisy, *usual, "--max-evaluations", "2", *first).code == 0
    known = seen(tmp_path / "RUN")
    turned = ("--constraint", "recall>=50%", "--constraint", "fpr <= 0.2")
    done = run("resume", "RUN", "--max-evaluations", "+1", "-q", *turned)
    assert done.code == 0, done.err
    assert seen(tmp_path / "RUN")[:2] == known
    content = json.loads((tmp_path / "RUN" / "run.json").read_text())
    assert [one["name"] for one in content["settings"]["limits"]] == ["fpr", "recall"]
    assert content["request"]["constraints"] == ["fpr <= 0.2", "recall>=50%"]
    told = json.loads(run("evaluate", "RUN", noisy, "--json").out)["constraints"]
    assert [one["limit"] for one in told] == ["fpr <= 0.2", "recall >= 0.5"]
    # Of the same limits another bound alone has thresholds chosen anew, in any order.
    tighter = (*turned[:2], "--constraint", "fpr <= 0.15", "--allow-changed")
    assert run("resume", "RUN", "--max-evaluations", "+1", "-q", *tighter).code == 0
    assert [key for _, key, *_ in seen(tmp_path / "RUN")[:2]] == [key for _, key, *_ in known]


def test_what_has_no_kept_predictions_is_evaluated_again_for_changed_limits(
    run: Any, noisy: Path, grammar: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    usual = ("--target", "buys", "--grammar", grammar, "--cv=2", "--executor", "inline", "-q")
    asked = ("fit", noisy, *usual, "--max-evaluations", "3", *within("0.01", "0.95"))
    assert run(*asked, "--out", "changed").code == 5
    gone = rows(tmp_path / "changed")[1]
    (tmp_path / "changed" / "predictions" / f"{gone.number}.npz").unlink()
    more = ("resume", "changed", "--max-evaluations", "4", "--executor", "inline", "-q")
    done = run(*more, *within("0.2", "0.5"), "--allow-changed")
    assert done.code == 0, done.err
    assert "the best of these are tried first: 1 of 3" in caplog.text
    found = {one.key: one for one in rows(tmp_path / "changed")}
    assert found[gone.key].constraints[0] <= 0.2
    assert found[gone.key].number > gone.number


def test_predictions_of_another_grammar_are_none_of_a_number_given_again(
    run: Any, table: Path, grammar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the run were killed each time after the log has an evaluation."""
    assert start(run, table, grammar, "changed", 4).code == 0
    last = rows(tmp_path / "changed")[-1].text
    model = "gaussian_nb" if "gaussian_nb" in last else "logistic_regression"
    grammar.write_text(GRAMMAR.replace(model, "decision_tree"), encoding="utf-8")
    more = ("resume", "changed", "--grammar", grammar, "--allow-changed", "-q")
    with monkeypatch.context() as killed:
        killed.setattr(KeptPredictions, "keep", lambda *_: None)
        assert run(*more, "--max-evaluations", "+3").code == 0
    after = {f"{one.number}.npz": one.text for one in rows(tmp_path / "changed")}
    kept = [path.name for path in (tmp_path / "changed" / "predictions").iterdir()]
    assert "4.npz" in after
    assert "decision_tree" in " ".join(after.values())
    assert not [name for name in kept if "decision_tree" in after.get(name, "decision_tree")]


def test_what_a_metric_cannot_measure_anew_is_evaluated_again(
    run: Any, noisy: Path, grammar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = ("--target", "buys", "--grammar", grammar, "--cv=2", "--executor", "inline", "-q")
    asked = ("fit", noisy, *usual, "--max-evaluations", "2", *within("0.01", "0.95"))
    assert run(*asked, "--out", "changed").code == 5

    def unruly(*_: Any) -> Any:
        raise ZeroDivisionError("no such rows")

    monkeypatch.setattr(measured_anew, "evaluate_predictions", unruly)
    more = ("resume", "changed", "--max-evaluations", "3", "--executor", "inline", "-q")
    done = run(*more, *within("0.2", "0.5"), "--allow-changed")
    assert done.code == 0, done.err
    assert all(one.constraints[0] <= 0.2 for one in rows(tmp_path / "changed"))


@pytest.mark.fault(
    "F66",
    injected="another program locks the store for longer than the patience",
    expected="exit 7, the best so far is saved, and resume goes on",
)
def test_the_best_so_far_is_saved_where_the_store_stays_locked(
    run: Any, table: Path, grammar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, others = SqliteStore.append, []

    def locked_after_two(store: SqliteStore, evaluation: Evaluation) -> None:
        if evaluation.number == 3 and not others:
            others.append(sqlite3.connect(tmp_path / "out" / "store.sqlite", isolation_level=None))
            others[0].execute("BEGIN IMMEDIATE")
        append(store, evaluation)

    monkeypatch.setattr(SqliteStore, "append", locked_after_two)
    monkeypatch.setattr(connection, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.001)
    ended = start(run, table, grammar, "out", 4)
    others[0].execute("ROLLBACK")
    others[0].close()
    assert (ended.code, ended.out) == (7, "")
    told = ended.err.splitlines()[-1]
    assert "another program holds a lock on it. Close it; a run goes on by `automl-admm" in told
    assert "The best until then is saved beside it." in told
    assert [one.number for one in rows(tmp_path / "out")] == [1, 2]
    manifest = json.loads((tmp_path / "out" / "model.json").read_text())
    assert manifest["evaluation"] in (1, 2)
    assert json.loads((tmp_path / "out" / "run.json").read_text())["state"] == "stopped"
    assert run("predict", "out", table, "-o", "told.csv").code == 0
    again = run("resume", "out", "-q")
    assert again.code == 0, again.err
    assert len(rows(tmp_path / "out")) == 4
