"""What is printed at the end of a run: where its time went."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from automl_admm.cli.shared.summary import _limit_line, lay_out

QUICK = (
    *("--target", "buys", "--grammar", "tiny", "--cv=2", "--max-evaluations", "4"),
    *("--theta-solver", "random", "--executor", "inline", "--out", "out", "-q"),
)


def test_the_accounts_add_up_to_the_time_on_the_clock(run: Any, table: Path) -> None:
    begun = time.monotonic()
    done = run("fit", table, *QUICK, "--json")
    took = time.monotonic() - begun
    spent = json.loads(done.out)["time"]
    assert {"start", "search", "solver", "store", "wait", "saving"} <= set(spent)
    assert min(spent.values()) >= 0.0
    assert sum(spent.values()) <= took + 0.01
    assert sum(spent.values()) >= 0.5 * took, "a busy machine slows down all parts"
    assert spent["wait"] > 0.0


def test_the_time_is_printed_with_its_parts(run: Any, table: Path) -> None:
    done = run("fit", table, *QUICK)
    line = next(line for line in done.out.splitlines() if line.startswith("time "))
    said = re.findall(r"(\w+) \(?(?=\d)([\d.]+)", line.replace(" s:", ""))
    numbers = {name: float(number) for name, number in said}
    inner = ("waiting", "solver", "store", "other")
    assert sum(numbers[name] for name in inner) == pytest.approx(numbers["search"], abs=0.3)
    outer = sum(number for name, number in numbers.items() if name not in (*inner, "time"))
    total = float(line.split()[1])
    assert outer == pytest.approx(total, abs=0.3)


def test_final_fit_and_workers_are_accounted_for(run: Any, table: Path) -> None:
    summary = json.loads(run("fit", table, *QUICK, "--json").out)
    assert summary["time"]["final fit"] > 0.0
    assert {"fit", "predict", "measure", "start", "idle"} <= set(summary["work"])
    assert summary["work"]["fit"] > 0.0
    kept = json.loads(Path("out/run.json").read_text())["result"]
    assert kept["work"] == summary["work"]


def test_the_seconds_are_told_alike_everywhere(run: Any, table: Path) -> None:
    done = run("fit", table, *QUICK, "--json", "--profile")
    summary = json.loads(done.out)
    assert summary["time"]["saving"] > 0.0
    assert summary["seconds"] == pytest.approx(sum(summary["time"].values()), abs=0.005)
    kept = json.loads(Path("out/run.json").read_text())
    assert kept["result"]["ledger"] == summary["time"]
    assert kept["result"]["seconds"] == summary["seconds"]
    assert kept["sessions"][-1]["seconds"] == pytest.approx(summary["seconds"], abs=0.001)
    said = re.search(r"own process: ([\d.]+) s", done.err)
    assert said is not None
    assert float(said[1]) == pytest.approx(summary["seconds"], abs=0.01)


def test_what_the_workers_did_is_printed_in_shares(run: Any, table: Path) -> None:
    done = run("fit", table, *QUICK)
    line = next(line for line in done.out.splitlines() if line.startswith("workers "))
    shares = [int(share) for share in re.findall(r"(\d+) %", line)]
    assert sum(shares) == pytest.approx(100, abs=len(shares))


@pytest.mark.parametrize(
    ("holds", "elsewhere", "verdict"),
    [
        (True, True, "holds"),
        (True, None, "holds"),
        (True, False, "BROKEN on rows that it was not chosen by"),
        (False, False, "BROKEN"),
        (False, True, "BROKEN"),
    ],
)
def test_a_limit_that_held_out_rows_break_is_not_said_to_hold(
    holds: bool, elsewhere: bool | None, verdict: str
) -> None:
    values = {"limit": "fpr <= 0.05", "kind": "statistical", "validation": 0.04, "held_out": None}
    line = _limit_line(
        {**values, "is_of_whole": False, "holds": holds, "holds_held_out": elsewhere}
    )
    assert line.rpartition(": ")[2].partition(";")[0] == verdict


def test_a_fact_is_told_of_the_model_that_ships() -> None:
    values = {"limit": "trees <= 9", "kind": "checked", "validation": 4.0, "held_out": 4.0}
    line = _limit_line({**values, "holds": True, "holds_held_out": True})
    assert line == "trees <= 9: 4 in the model that ships: holds"


def test_the_cost_of_an_ensemble_is_told_of_the_model_that_ships(run: Any, table: Path) -> None:
    limits = ("--constraint", "memory_mb <= 100000", "--constraint", "error <= 0.9")
    done = run("fit", table, *QUICK, "--refit", "folds", *limits)
    assert re.search(
        r"memory_mb <= 100000: [\d.e+]+ of the model that ships, [\d.e+]+ on held-out rows: holds",
        done.out,
    )
    assert re.search(
        r"error <= 0.9: [\d.]+ on validation rows, [\d.]+ on held-out rows: holds", done.out
    )


def test_a_terminal_breaks_lines_between_words_and_a_pipe_not_at_all() -> None:
    text = 'impute(strategy="mean") logistic_regression(C=1.0, l1_ratio=0.0, max_iter=300) end'
    assert lay_out("best", text, 6, None) == f"best    {text}"
    lines = lay_out("best", text, 6, 40).splitlines()
    assert len(lines) > 2
    assert all(len(line) <= 40 for line in lines)
    assert {line[:8] for line in lines[1:]} == {" " * 8}
    assert " ".join(line[8:] for line in lines) == text
    assert lay_out("best", "x" * 90, 6, 40).split() == ["best", "x" * 90]
    assert lay_out("best", text, 6, 20) == f"best    {text}"


def test_report_and_card_tell_which_values_are_of_the_model_that_ships(
    run: Any, table: Path
) -> None:
    bounds = ("memory_mb <= 100000", "columns <= 99", "error <= 0.9")
    limits = [word for one in bounds for word in ("--constraint", one)]
    assert run("fit", table, *QUICK, "--refit", "folds", *limits).code == 0
    found = json.loads(run("report", "out", "--json").out)["limits"]["limits"]
    assert [one["is_of_shipped"] for one in found] == [True, True, False]
    assert run("report", "out").code == 0
    assert run("export", "out", "--to", "modelcard:card.md").code == 0
    for page in Path("out/report.html"), Path("card.md"):
        told = page.read_text()
        assert told.count(" in the model that ships") == 2, page
