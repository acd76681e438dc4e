"""`automl-admm grammar`: what a grammar says, before anything runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

MINE = """\
%import components (impute, standard_scaler, pca, logistic_regression, gaussian_nb, ridge)
start: impute any_order{scaler, reducer} estimator
scaler: standard_scaler?
reducer: pca?
estimator: logistic_regression | gaussian_nb | ridge
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    (tmp_path / "mine.lark").write_text(MINE, "utf-8")
    return "mine.lark"


def test_check_says_ok_and_how_large_it_is_for_each_task(run: Any, mine: str) -> None:
    done = run("grammar", "check", mine)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "mine.lark: ok for classification, 16 shapes\nmine.lark: ok for regression, 8 shapes\n"
    )
    done = run("grammar", "check", mine, "--task", "regression")
    assert done.out == "mine.lark: ok for regression, 8 shapes\n"


def test_check_lists_all_mistakes_and_ends_with_2(run: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.lark").write_text(MINE.replace("pca?", "pcaa?").replace("scaler:", "scal:"))
    done = run("grammar", "check", "bad.lark")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: bad.lark:1:46: error[G008]: component 'pca'")
    assert "uses 'scaler', which is not defined" in done.err
    assert "uses 'pcaa', which is not defined" in done.err


def test_of_a_grammar_for_one_task_the_mistakes_are_those_of_that_task(
    run: Any, tmp_path: Path
) -> None:
    text = "%import components (impute, ridge)\nstart: impute ridge ridge\n"
    (tmp_path / "bad.lark").write_text(text)
    done = run("grammar", "check", "bad.lark")
    assert done.code == 2
    assert "'ridge' can come after an estimator" in done.err
    (tmp_path / "good.lark").write_text("%import components (impute, ridge)\nstart: impute ridge\n")
    assert run("grammar", "check", "good.lark").out == "good.lark: ok for regression, 1 shape\n"


def test_recursion_is_cut_where_it_is_told(run: Any, tmp_path: Path) -> None:
    text = (
        "%import components (impute, pca, ridge)\nstart: impute more ridge\nmore: none | pca more\n"
    )
    (tmp_path / "deep.lark").write_text(text)
    for depth in (1, 5):
        done = run("grammar", "count", "deep.lark", "--max-depth", str(depth))
        assert done.out.splitlines()[0].split() == ["shapes", str(depth)]
    done = run("grammar", "check", "deep.lark", "--max-depth", "0")
    assert (done.code, done.err.count("\n")) == (2, 1)
    done = run("fit", *QUICK, "--grammar", "deep.lark", "--max-depth", "99")
    assert done.code == 2
    assert "depth" in done.err


def test_show_draws_the_structure(run: Any, mine: str) -> None:
    done = run("grammar", "show", mine)
    assert done.code == 0
    assert done.out.splitlines()[:5] == [
        "mine.lark (classification)",
        "├── impute(strategy)",
        "├── in any order: start.order",
        "│   ├── one of: scaler",
        "│   │   ├── standard_scaler()",
    ]


def test_show_writes_a_picture(run: Any, mine: str, tmp_path: Path) -> None:
    done = run("grammar", "show", mine, "--svg", "mine.svg")
    assert (done.code, done.out) == (0, "mine.lark is drawn in mine.svg\n")
    assert "<svg " in (tmp_path / "mine.svg").read_text("utf-8")
    done = run("grammar", "show", mine, "--svg", "no/where.svg")
    assert done.code == 2
    assert done.err == "error: 'no/where.svg' cannot be written: No such file or directory.\n"


def test_count_counts(run: Any, mine: str) -> None:
    lines = [line.split() for line in run("grammar", "count", mine).out.splitlines()]
    assert lines[:3] == [["shapes", "16"], ["selections", "48"], ["decisions", "5"]]


def test_what_is_sampled_is_repeatable_and_parses(run: Any, mine: str) -> None:
    first = run("grammar", "sample", mine, "-n", "4", "--seed", "3")
    assert first.code == 0
    assert first.out == run("grammar", "sample", mine, "-n", "4", "--seed", "3").out
    lines = first.out.splitlines()
    assert len(lines) == 4
    for line in lines:
        done = run("grammar", "parse", mine, line)
        assert done.code == 0, done.err
        assert done.out.splitlines()[0] == f"pipeline               {line}"


def test_parse_says_what_is_chosen(run: Any, mine: str) -> None:
    done = run(
        "grammar", "parse", mine, "impute() pca() standard_scaler() ridge()", "--task=regression"
    )
    assert done.code == 0, done.err
    assert [line.split(maxsplit=1) for line in done.out.splitlines()[1:]] == [
        ["start.impute.strategy", "mean"],
        ["start.order", "reducer, scaler"],
        ["scaler", "standard_scaler"],
        ["reducer", "pca"],
    ]


def test_parse_shows_where_a_text_leaves_the_language(run: Any, mine: str) -> None:
    done = run("grammar", "parse", mine, "impute() gaussian_nb() pca()")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: TEXT:1:24: error[P005]: 'pca' cannot stand here\n"
        "    impute() gaussian_nb() pca()\n"
        "                           ^^^\n"
        "help: Nothing may follow here.\n"
        "More: automl-admm docs P005\n"
    )


@pytest.mark.parametrize("name", ["check", "show", "count", "sample"])
def test_a_grammar_that_is_not_there_is_one_line(run: Any, name: str) -> None:
    done = run("grammar", name, "defualt")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "Did you mean 'default'" in done.err


QUICK = (
    *("--cv=2", "--max-evaluations", "2", "--theta-solver", "random"),
    *("--executor", "inline", "-q"),
)


def test_fit_begins_where_it_is_told(run: Any, mine: str, table: Path, tmp_path: Path) -> None:
    (tmp_path / "starts.txt").write_text("# two\nimpute() gaussian_nb()\n", "utf-8")
    fit = ("fit", table, "--target", "buys", "--grammar", mine, *QUICK[1:], "--out", "out")
    start = "impute() pca(n_components=0.7) logistic_regression(C=0.5)"
    done = run(*fit, "--start", start, "--start", "starts.txt")
    assert done.code == 0, done.err
    texts = run("leaderboard", "out").out.replace("\n", "").replace(" ", "")
    assert "≈" in texts, "one that is behind was stopped, and is shown below the others"
    assert "pca(n_components=0.7,whiten=false)logistic_regression(C=0.5," in texts
    assert "gaussian_nb()" in texts
    starts = json.loads((tmp_path / "out" / "run.json").read_text())["settings"]["starts"]
    assert [text.split()[-1][:9] for text in starts][1] == "gaussian_"


@pytest.mark.parametrize(
    ("start", "says"),
    [
        ("impute() pcaa() gaussian_nb()", "error: start:1:10: error[P002]"),
        ("impute() gaussian_nb(x=1)", "error: start:1:22: error[P003]"),
        ("starts.txt", "error: starts.txt:3:1: error[P005]"),
        ("nowhere.txt", "error: there is no file 'nowhere.txt' to start from."),
    ],
)
def test_a_bad_start_is_explained_before_anything_runs(
    run: Any, mine: str, table: Path, tmp_path: Path, start: str, says: str
) -> None:
    (tmp_path / "starts.txt").write_text("impute() gaussian_nb()\n\ngaussian_nb()\n", "utf-8")
    done = run("fit", table, "--target", "buys", "--grammar", mine, *QUICK, "--start", start)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(says)
    assert not (tmp_path / "automl-runs").exists()


def test_check_tells_in_one_line_what_is_left_out(run: Any, tmp_path: Path) -> None:
    text = "%import? components (rigde)\n" + MINE.replace("| ridge", "| ridge | rigde")
    (tmp_path / "optional.lark").write_text(text, "utf-8")
    done = run("grammar", "check", "optional.lark")
    assert (done.code, done.err) == (0, "")
    said = "left out of the grammar: rigde (no installed package has it; did you mean 'ridge'?)"
    assert done.out.splitlines()[2:] == [f"optional.lark: {said}"]
