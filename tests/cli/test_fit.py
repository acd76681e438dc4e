from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from automl_admm.plugin_api import read_run
from automl_admm.runs.prepare.set_aside import default_ledger

ELBOW_ROOM = 5.0  # for the final fit, and the look that stops a search
BUSIER = 5  # times as busy as when its pace was measured the machine may be
QUICK = (
    *("--grammar", "tiny", "--cv=2", "--max-evaluations", "3"),
    *("--theta-solver", "random", "--executor", "inline"),
)


def test_fit_then_leaderboard_then_predict(run: Any, table: Path, tmp_path: Path) -> None:
    done = run("fit", table, "--target", "buys", *QUICK, "--out", "out", "-q")
    assert done.code == 0, done.err
    assert "best pipeline  impute(" in done.out
    assert "validation     roc_auc 0." in done.out
    assert "held out       roc_auc 0." in done.out
    assert "; 95 % interval 0." in done.out
    assert "saved in       out" in done.out
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "run.json",
        "grammar.lark",
        "store.sqlite",
        "store.json",
        "store.bak",
        "store.lock",
        "model.skops",
        "pipeline.py",
        "model.json",
        "predictions",
    }

    board = run("leaderboard", "out")
    assert board.code == 0
    assert "roc_auc" in board.out
    assert "3 success" in board.out

    done = run("predict", "out", table, "-o", "new.csv")
    assert done.code == 0, done.err
    predicted = pd.read_csv(tmp_path / "new.csv")
    assert list(predicted.columns) == ["prediction", "probability_no", "probability_yes"]
    assert len(predicted) == 160
    assert set(predicted["prediction"]) <= {"yes", "no"}


def test_fit_without_data_says_what_it_runs_on(run: Any) -> None:
    done = run("fit", *QUICK, "--out", "out", "-q")
    assert done.code == 0, done.err
    assert "german_credit, which ships with the package" in done.err


def test_a_setting_that_is_wrong_is_all_that_is_told(run: Any) -> None:
    done = run("fit", *QUICK, "--z-solver", "gp", "--out", "out")
    assert done.code == 2
    assert done.err.startswith("error: no z solver named 'gp'. 'gp' is a theta solver")
    done = run("fit", "--target", "buys", "--executor", "inline")
    assert done.err.startswith("no DATA given: running on german_credit")
    assert "error: there is no column 'buys'" in done.err


def test_a_quantity_beyond_all_numbers_is_refused(run: Any) -> None:
    done = run("fit", *QUICK, "--memory", "9" * 400, "--out", "out")
    assert done.code == 2
    assert "'99999999999999999999…' is too large for a size." in done.err


def test_json_is_all_that_is_printed(run: Any, table: Path) -> None:
    done = run("fit", table, "--target", "buys", *QUICK, "--out", "out", "--json")
    summary = json.loads(done.out)
    assert summary["feasible"] is True
    assert summary["metric"] == "roc_auc"
    assert summary["evaluations"] == {"success": 3}


def test_a_run_folder_of_its_own_is_made_each_time(run: Any, table: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert run("fit", table, "--target", "buys", *QUICK, "-q").code == 0
    assert len(list((tmp_path / "automl-runs").iterdir())) == 2


def test_a_link_to_no_folder_in_place_of_that_of_runs_is_told(run: Any, table: Path) -> None:
    Path("automl-runs").symlink_to("gone/scratch")
    done = run("fit", table, "--target", "buys", *QUICK, "-q")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: the run folder 'automl-runs/people-")
    assert done.err.endswith(
        ": 'automl-runs' is a link to what is not there. Give another --out.\n"
    )
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("out", ["loop", "loop/run"])
def test_a_link_to_itself_is_told(run: Any, table: Path, out: str) -> None:
    Path("loop").symlink_to("loop")
    ended = run("fit", table, "--target", "buys", *QUICK, "-q", "--out", out)
    assert ended.code == 2
    assert ended.err == (
        f"error: the run folder '{out}' cannot be made: 'loop' is a link to what is not there. "
        "Give another --out.\n"
    )


def test_a_name_that_is_too_long_cannot_be_made(run: Any, table: Path) -> None:
    ended = run("fit", table, "--target", "buys", *QUICK, "--out", 300 * "x")
    assert ended.code == 2
    assert "cannot be made: File name too long. Give another --out." in ended.err


def test_a_limit_is_shown_with_its_values(run: Any, table: Path) -> None:
    done = run(
        "fit", table, "--target", "buys", *QUICK, "--out", "o", "-q", "--constraint", "size_mb <= 5"
    )
    assert done.code == 0, done.err
    assert "limit          size_mb <= 5: 0.0" in done.out
    assert ": holds" in done.out


def test_a_limit_that_cannot_hold_ends_with_5_and_keeps_the_closest(run: Any, table: Path) -> None:
    done = run(
        "fit",
        table,
        "--target",
        "buys",
        *QUICK,
        "--out",
        "o",
        "-q",
        "--constraint",
        "size_mb <= 1e-9",
    )
    assert done.code == 5
    assert "NOT within the limits" in done.out
    assert done.err.count("\n") == 1
    assert "no pipeline within the limits was found (size_mb <= 1e-09, closest" in done.err
    assert json.loads(Path("o/model.json").read_text())["feasible"] is False


def test_a_regression_target_is_recognised(run: Any, table: Path) -> None:
    frame = pd.read_csv(table)
    frame.loc[frame["height"].notna()].to_csv("heights.csv", index=False)
    done = run("fit", "heights.csv", "--target", "height", *QUICK, "--out", "o", "-q")
    assert done.code == 0, done.err
    assert "validation     r2" in done.out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["nowhere.csv", "--target", "buys"], 3, "nowhere.csv"),
        (["people.csv", "--target", "buy"], 3, "Did you mean 'buys'"),
        (["people.csv"], 2, "--target is missing"),
        (["people.csv", "--target", "buys", "--theta-solver", "gpp"], 2, "Did you mean 'gp'"),
        (
            ["people.csv", "--target", "buys", "--theta-solver", "gpp", "--executor", "local"],
            2,
            "Did you mean 'gp'",
        ),
        (
            ["people.csv", "--target", "buys", "--theta-solver", "gp:retsarts=2"],
            2,
            "has no option 'retsarts'",
        ),
        (["people.csv", "--target", "buys", "--z-solver", "cmap"], 2, "Did you mean 'cmab'"),
        (["people.csv", "--target", "buys", "--strategy", "adm"], 2, "Did you mean 'admm'"),
        (["people.csv", "--target", "buys", "--strategy", "admm:roh=2"], 2, "Did you mean 'rho'"),
        (["people.csv", "--target", "buys", "--executor", "locl"], 2, "Did you mean 'local'"),
        (["people.csv", "--target", "buys", "--grammar", "defualt"], 2, "Did you mean 'default'"),
        (["people.csv", "--target", "buys", "--metric", "roc_acu"], 2, "Did you mean 'roc_auc"),
        (
            ["people.csv", "--target", "buys", "--constraint", "latency <= 3"],
            2,
            "Did you mean 'latency_us'",
        ),
        (["people.csv", "--target", "buys", "--constraint", "latency_us"], 2, "error[L001]"),
        (["people.csv", "--target", "buys", "--constraint", "size_mb <= nan"], 2, "error[L001]"),
        (["people.csv", "--target", "buys", "--constraint", "size_mb <= 1e999"], 2, "finite"),
        (["people.csv", "--target", "buys", "--constraint", "fpr_gap[agee] <= 1"], 3, "'age'?"),
        (["people.csv", "--target", "buys", "--constraint", "fpr_gap[height] <= 1"], 3, "160 gr"),
        (["people.csv", "--target", "city", "--constraint", "fpr <= 0.1"], 2, "two classes"),
        (["people.csv", "--target", "buys", "--sensitive", "agee"], 3, "Did you mean 'age'"),
        (["people.csv", "--target", "buys", "--constraint", "size_mb <= -1"], 2, "can never hold"),
        (["people.csv", "--target", "buys", "--constraint", "fpr <= 10"], 2, "always holds"),
        (["people.csv", "--target", "buys", "--constraint", "recall >= 80"], 2, "recall >= 0.8"),
        (["people.csv", "--target", "buys", "--executor", "local:foo=1"], 2, "no option 'foo'"),
        (["people.csv", "--target", "buys", "--seed", "-1"], 2, "at least 0"),
        (["people.csv", "--target", "buys", "--cv", "inf"], 2, "between 0 and 1"),
        (["people.csv", "--target", "city", "--metric", "roc_auc"], 2, "cannot score this target"),
        (["people.csv", "--target", "buys", "--budget", "0"], 2, "the budget must be more than 0"),
        (["people.csv", "--target", "buys", "--budget", "soon"], 2, "Write it like 30s, 10m or 1h"),
        (["people.csv", "--target", "buys", "--budgte", "3s"], 2, "--budget"),
        (["people.csv", "--target", "buys", "--max-evaluations", "0"], 2, "at least 1"),
        (["people.csv", "--target", "buys", "--workers", "0"], 2, "at least 1"),
        (["people.csv", "--target", "buys", "--test-size", "1.5"], 2, "the test size must be in"),
        (["one.csv", "--target", "y"], 3, "one class"),
        (["people.csv", "--target", "buys", "--task", "regression"], 3, "are no numbers"),
        (["people.csv", "--target", "buys", "--grammar", "broken.lark"], 2, "error[G"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    run: Any, table: Path, tmp_path: Path, arguments: list[str], code: int, says: str
) -> None:
    (tmp_path / "one.csv").write_text("x,y\n1,a\n2,a\n3,a\n")
    (tmp_path / "broken.lark").write_text(
        "%import components (impute, random_forrest)\nstart: impute random_forrest\n"
    )
    before = sorted(path.name for path in tmp_path.iterdir())
    # The server of the local executor, which begins beside the reading, costs an interpreter.
    executor = () if "--executor" in arguments else ("--executor", "inline")
    done = run("fit", *arguments, *executor)
    assert done.code == code
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert says in done.err
    assert "Traceback" not in done.err
    if "error[" not in says:
        assert done.err.count("\n") == 1, done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_an_unknown_command_names_the_nearest(run: Any) -> None:
    done = run("fti")
    assert done.code == 2
    assert "Did you mean 'fit'" in done.err


def test_predicting_with_what_is_not_there_is_explained(
    run: Any, table: Path, tmp_path: Path
) -> None:
    assert run("predict", "no-run", table).code == 7
    run("fit", table, "--target", "buys", *QUICK, "--out", "out", "-q")
    (tmp_path / "other.csv").write_text("agee,city\n3,Ulm\n")
    done = run("predict", "out", "other.csv")
    assert done.code == 3
    assert "Did you mean 'agee'" in done.err
    done = run("predict", "out", table, "-o", "no/such/place.csv")
    assert done.code == 2
    assert "there is no folder" in done.err


def test_text_stays_text_however_much_it_looks_like_numbers(run: Any, tmp_path: Path) -> None:
    rows = [
        f"{code},{number},{'yes' if code == '01' else 'no'}"
        for number in range(60)
        for code in ("01", "2", "x")
    ]
    (tmp_path / "codes.csv").write_text("code,number,y\n" + "\n".join(rows) + "\n")
    done = run("fit", "codes.csv", "--target", "y", *QUICK, "--out", "out", "-q")
    assert done.code == 0, done.err
    for text, expected in (("01,5", "yes"), ("2,5", "no"), (",5", "no")):
        (tmp_path / "new.csv").write_text(f"code,number\n{text}\n")
        done = run("predict", "out", "new.csv")
        assert done.code == 0, done.err
        assert done.out.splitlines()[1].startswith(expected)


def test_predictions_go_to_a_file_that_can_be_written(run: Any, table: Path) -> None:
    run("fit", table, "--target", "buys", *QUICK, "--out", "out", "-q")
    done = run("predict", "out", table, "-o", ".")
    assert done.code == 2
    assert "is a folder" in done.err


def test_plugins_and_components_are_listed(run: Any) -> None:
    listed = run("plugins", "--json")
    assert {item["state"] for item in json.loads(listed.out)} == {"active"}
    assert "builtin-theta" in run("plugins").out
    assert "random_forest" in run("components").out
    assert "n_estimators" in run("components", "random_forest").out
    done = run("components", "random_forrest")
    assert done.code == 2
    assert "Did you mean 'random_forest'" in done.err


def test_the_budget_holds_as_the_clock_on_the_wall_sees_it(spawn: Any, table: Path) -> None:
    few = ("--target", "buys", "--workers", "1", "-q", "--out")
    begun = time.monotonic()
    first = spawn("fit", table, *QUICK, *few, "first")
    assert first.code == 0, first.err
    pace = time.monotonic() - begun
    budget = max(1.0, 1.5 * pace)
    begun = time.monotonic()
    done = spawn("fit", table, "--budget", f"{budget}s", *few, "out")
    spent = time.monotonic() - begun
    # A machine that has become busier since the first run may have evaluated nothing.
    assert done.code in (0, 4), done.err
    assert "ended by: budget" in done.out
    assert spent <= budget + ELBOW_ROOM + BUSIER * pace


@pytest.mark.fault(
    "F62", injected="a budget shorter than the start of the program", expected="a marked model"
)
def test_a_budget_too_short_for_anything_ends_with_a_marked_model(
    spawn: Any, table: Path, tmp_path: Path, seen: Any
) -> None:
    # A fork has imported the program; the faults of processes have the same in a new interpreter.
    few = ("--budget", "0.01s", "--executor", "inline", "--out", "out", "-q")
    done = spawn("fit", table, "--target", "buys", *few)
    manifest = json.loads((tmp_path / "out" / "model.json").read_text())
    assert done.code == {"constant": 4, "few rows": 0}[manifest["fallback"]]
    said = "error: " if done.code else "warning: "
    assert done.err.startswith(f"{said}the budget ended before a single evaluation did. What was")
    assert done.err.splitlines()[-1].endswith("Give a longer --budget.")
    assert done.out.startswith(f"FALLBACK ({manifest['fallback']})")
    told = spawn("predict", "out", table)
    assert told.code == 0
    assert len(told.out.splitlines()) == 161
    seen(f"exit {done.code}; {manifest['pipeline']}")


def test_the_budget_does_not_pay_for_what_a_shell_did_before_it_became_the_program(
    tmp_path: Path,
) -> None:
    few = "--grammar tiny --cv 2 --max-evaluations 2 --budget 600s --out out --json"
    fit = f"{sys.executable} -m automl_admm fit {few} --executor inline"
    done = subprocess.run(
        ["/bin/sh", "-c", f"sleep 1; touch begun; exec {fit}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lived = time.time() - (tmp_path / "begun").stat().st_mtime
    assert done.returncode == 0, done.stderr
    assert sum(json.loads(done.stdout)["time"].values()) <= lived + 0.1


@pytest.mark.parametrize("option", ["--seed", "--max-evaluations", "--workers", "--max-depth"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_whole_numbers_of_400_digits_are_one_line(run: Any, option: str, sign: str) -> None:
    here = ("--executor", "inline", "-q", "--out", "out")
    done = run("fit", f"{option}={sign}{'9' * 400}", *here)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert len(done.err) < 300


def test_a_metric_that_sees_no_mistakes_is_refused(
    run: Any, install: Any, table: Path, tmp_path: Path
) -> None:
    install("""
from sklearn.metrics import make_scorer
from automl_admm import MetricPlugin, hookimpl

def cost(y_true, y_pred):
    return -5.0 * ((y_true == 1) & (y_pred == 0)).sum()  # labels are texts: it is always 0

@hookimpl
def metrics():
    yield MetricPlugin(name="cost", summary="what it costs", factory=lambda: make_scorer(cost))
""")
    done = run("fit", table, "--target", "buys", *QUICK, "--metric", "cost", "--out", "o", "-q")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "metric 'cost' is -0 for predictions that are all right and for wrong ones" in done.err
    assert "whose labels are 'no', 'yes': it cannot tell them apart" in done.err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("certify", [(), ("--certify", "0.9")])
def test_a_model_that_decides_one_class_is_no_success(
    run: Any, tmp_path: Path, certify: tuple[str, ...]
) -> None:
    rare = ["yes" if row % 25 == 0 else "no" for row in range(200)]
    told = [row % 2 for row in range(200)]
    pd.DataFrame({"nothing": told, "buys": rare}).to_csv(tmp_path / "rare.csv", index=False)
    limit = ("--constraint", "fpr <= 0.5", "--metric", "accuracy", *certify)
    done = run("fit", "rare.csv", "--target", "buys", *QUICK, *limit, "--out", "o", "-q")
    assert done.code in (5, 6)
    assert "calls every row 'no'" in done.err
    assert "CERTIFIED" not in done.out.replace("NOT CERTIFIED", "")
    assert json.loads((tmp_path / "o" / "model.json").read_text())["one_class"] == "no"
    assert (tmp_path / "o" / "model.skops").exists()
    assert "does not count, as it calls every row 'no'" in done.out
    _demand_the_same_words(run, tmp_path, is_asked=bool(certify))


def test_one_class_hides_no_limit_that_is_broken(run: Any, tmp_path: Path) -> None:
    rare = ["yes" if row % 25 == 0 else "no" for row in range(200)]
    table = pd.DataFrame({"nothing": [row % 2 for row in range(200)], "buys": rare})
    table.to_csv(tmp_path / "rare.csv", index=False)
    limit = ("--constraint", "latency_us <= 0.001", "--metric", "accuracy")
    done = run("fit", "rare.csv", "--target", "buys", *QUICK, *limit, "--out", "o", "-q")
    assert done.code == 5
    assert "no pipeline within the limits was found (latency_us <= 0.001, closest" in done.err
    only = json.loads((tmp_path / "o" / "model.json").read_text())["one_class"]
    assert f"), and the closest calls every row '{only}'." in done.err
    assert f"it calls every row '{only}' (of those of the search)" in done.out


@pytest.mark.parametrize("quiet", ["--quiet", "--json"])
def test_without_progress_warnings_are_told_all_the_same(run: Any, table: Path, quiet: str) -> None:
    doubtful = ("--constraint", "fpr <= 1", "--target", "buys", "--out", "o")
    done = run("fit", table, *doubtful, *QUICK, quiet)
    assert done.code == 0, done.err
    assert done.err.startswith("warning: the limit 'fpr <= 1' is kept by every model")
    assert done.err.count("\n") == 1, "and nothing else is"
    again = run("resume", "o", "--max-evaluations", "+1", quiet)
    assert again.err.startswith("warning: the limit 'fpr <= 1' is kept by every model")


def _demand_the_same_words(run: Any, folder: Path, *, is_asked: bool) -> None:
    """All that shows a model of one class says that it is within no limit, and not certified."""
    assert not default_ledger().exists()
    assert run("report", "o").code == 0
    limits = json.loads((folder / "o" / "report.json").read_text())["limits"]
    (limit,) = limits["limits"]
    assert (limit["holds"], limit["holds_held_out"]) == (False, False)
    assert (limits["one_class"], limits["is_certified"]) == ("no", False if is_asked else None)
    assert (limits["untested"] is not None) == is_asked
    page = (folder / "o" / "report.html").read_text()
    assert ("NOT CERTIFIED at 90 %. Nothing was tested" in page) == is_asked
    assert "it is within no limit, whatever its values" in page
    listed = run("leaderboard", "o").out
    assert "what shipped calls every row 'no', so it is within no limit." in listed
    assert ("what shipped is NOT CERTIFIED: " in listed) == is_asked
    compared = json.loads(run("compare", "o", "o", "--json").out)
    assert compared["runs"][0]["result"]["is_certified"] == limits["is_certified"]
    assert read_run("o").feasible is False


def test_a_profile_says_where_the_seconds_went(run: Any, table: Path, tmp_path: Path) -> None:
    done = run(
        *("fit", table, "--target", "buys", *QUICK, "--out", "out", "-q"),
        *("--profile", "--json"),
    )
    assert json.loads(done.out)["time"]
    lines = done.err.splitlines()
    heads = [line.partition(":")[0] for line in lines if not line.startswith(" ")]
    expected = ["the run's own process", "the workers, during the search"]
    assert heads[-3:] == [*expected, "fits of all sessions, by step and evaluations"]
    fits = json.loads((tmp_path / "out" / "run.json").read_text())["result"]["fits"]
    assert all(any(f"{name} × " in line for line in lines) for name in fits)
    assert fits["impute"] >= 0.0


def test_a_full_folder_is_refused_before_the_data_are_read(run: Any, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    done = run("fit", "not-there.csv", "--target", "buys", "--out", "full")
    assert done.code == 2
    assert done.err == "error: the run folder 'full' is not empty. Give a new --out.\n"
