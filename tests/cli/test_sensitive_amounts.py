"""Sensitive columns such as `$1,234`: cut by a limit, and then read by each later command."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

ROWS = 240
RNG = np.random.default_rng(4)
INCOMES = RNG.integers(1000, 9000, ROWS)
LIMIT = "selection_rate_gap[income:3000,6000] <= 0.95"
PARTS = np.digitize(INCOMES, (3000, 6000))
X = RNG.normal(size=ROWS)
SOLD = np.where(X + RNG.normal(0, 0.3, ROWS) > 0, "yes", "no")
FIT = ("--target", "sold", "--grammar", "tiny", "--cv=2", "--max-evaluations", "1", "--seed", "0")


def write(path, incomes):
    spent = [f"{100 * share:.1f}%" for share in np.linspace(0, 1, ROWS)]
    table = pd.DataFrame({"x": X, "spent": spent, "income": incomes, "sold": SOLD})
    table.to_csv(path, index=False)


def gap_by_hand(predictions):
    told = np.array([line.split(",")[0] for line in predictions.splitlines()[1:]])
    rates = [np.mean(told[part == PARTS] == "yes") for part in range(3)]
    return max(rates) - min(rates)


def report_groups(folder):
    report = json.loads((folder / "out" / "report.json").read_text())
    return [[group["group"] for group in by["groups"]] for by in report["groups"]["groupings"]]


def test_they_are_cut_as_numbers_by_each_command(run, tmp_path):
    dollars = [f"${income:,}" for income in INCOMES]
    write("train.csv", dollars)
    fitted = run(
        *("fit", "train.csv", *FIT, "--sensitive", "income", "--constraint", LIMIT),
        *("--certify", "0.9", "--executor", "inline", "--out", "out"),
    )
    assert fitted.code in (0, 5), fitted.err
    assert "sensitive 'income': numbers in text, such as '$" in fitted.err
    read = json.loads((tmp_path / "out" / "run.json").read_text())["answers"]
    assert [one["name"] for one in read] == ["income"]

    verified = run("verify", "out", "train.csv")
    assert "the data agree" in verified.out + verified.err

    evaluated = run("evaluate", "out", "train.csv", "--json")
    value = json.loads(evaluated.out)["constraints"][0]["value"]
    assert np.isclose(value, gap_by_hand(run("predict", "out", "train.csv").out))
    reported = run(
        *("report", "out", "--data", "train.csv"),
        *("--group", "income:3000,6000", "--group", "spent:50"),
    )
    assert reported.code == 0, reported.err
    cut = {"income < 3000", "3000 <= income < 6000", "6000 <= income"}
    assert list(map(set, report_groups(tmp_path))) == [cut, {"spent < 50", "50 <= spent"}]

    write("odd.csv", [*dollars[:-1], "a lot"])
    write("bare.csv", INCOMES)
    for file, cell in (("odd.csv", "a lot"), ("bare.csv", str(INCOMES[0]))):
        refused = run("evaluate", "out", file)
        assert refused.code == 3
        assert f"column 'income' holds '{cell}'" in refused.err
