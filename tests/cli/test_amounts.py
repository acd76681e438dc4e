"""A target and weights such as `$1,234.50`: fit, and then each command that reads them again."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from program import run_python

ROWS = 120
RNG = np.random.default_rng(4)
SEARCH = ("--grammar", "tiny", "--cv=2", "--max-evaluations", "2", "--executor", "inline")
X = RNG.normal(size=ROWS)
PRICES = (4000 + 1500 * X + RNG.normal(0, 100, ROWS)).round(2)
COUNTS = RNG.integers(1, 9, ROWS) * 500


def write(path, prices, counts=COUNTS, **more):
    frame = pd.DataFrame({"x": X, "price": prices, "count": counts})
    if path.endswith(".parquet"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, **more)


def spelled(form):
    return [form.format(price) for price in PRICES]


def scored(run, data):
    done = run("evaluate", "out", data, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)["score"]


def test_they_are_read_as_columns_are_and_the_same_by_each_command(run, tmp_path):
    write("train.csv", spelled("{:,.2f}"), [f"{count:,}" for count in COUNTS])
    fitted = run(
        "fit", "train.csv", "--target", "price", "--weight", "count", *SEARCH, "--out", "out"
    )
    assert fitted.code == 0, fitted.err
    told = [line for line in fitted.err.splitlines() if line.startswith(("target", "weight"))]
    assert told[0].startswith("target 'price': numbers in text, such as '")
    assert told[0].endswith("predictions are such plain numbers")
    assert told[1].startswith("weight 'count': numbers in text, such as '")
    for name in ("run.json", "model.json"):
        read = json.loads((tmp_path / "out" / name).read_text())["answers"]
        assert [one["name"] for one in read] == ["price", "count"]
    write("plain.parquet", PRICES)
    write("plain.csv", PRICES, sep=";")
    found = scored(run, "train.csv")
    assert found > 0.9
    assert scored(run, "plain.parquet") == found
    assert scored(run, "plain.csv") == found
    write("words.csv", [*PRICES[:-1], "about 5"])
    refused = run("evaluate", "out", "words.csv")
    assert refused.code == 3
    line, advice = refused.err.split(" in training. ")
    assert line.startswith("error: words.csv, line 121: column 'price' holds 'about 5', and held ")
    assert advice == "Write it as in training; every row needs its target.\n"
    # Rows of weight 0 do not count, but their lines do.
    write("gap.csv", [*PRICES[:5], "", *PRICES[6:]], [0, 0, *COUNTS[2:]])
    refused = run("evaluate", "out", "gap.csv")
    assert refused.code == 3
    assert "'price' is missing in 1 of 118 rows, first in gap.csv, line 7." in refused.err
    again = run("resume", "out", "--max-evaluations", "+1", "--quiet")
    assert again.code == 0, again.err
    predicted = run("predict", "out", "plain.csv").out
    made = run_python("out/pipeline.py", "train.csv", "plain.parquet", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    ours, theirs = (
        [float(line.split(",")[0]) for line in out.splitlines()[1:]]
        for out in (predicted, made.stdout)
    )
    assert np.allclose(ours, theirs)
    assert abs(np.mean(ours) - PRICES.mean()) < 500
