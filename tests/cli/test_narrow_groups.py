"""Groups by numbers of a CSV file are known again where a later file holds narrower floats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from program import run_program

QUICK = (
    *("--grammar", "tiny", "--cv=2", "--max-evaluations", "2", "--theta-solver", "random", "-q"),
    *("--executor", "inline"),
)
SITES = (1.1, 52.55, 7.123, 0.123456789)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that decides by site, and its rows in both widths of floats."""
    folder, rng = tmp_path_factory.mktemp("narrow"), np.random.default_rng(0)
    rows = 800
    frame = pd.DataFrame({"income": rng.normal(size=rows), "site": rng.choice(SITES, size=rows)})
    share = np.where(frame["site"] > 5, 0.75, 0.25)
    frame["paid"] = np.where(rng.random(rows) < share, "yes", "no")
    # The same in both widths: only the groups may differ.
    frame["income"] = (8 * frame["income"]).round() / 8
    frame.to_csv(folder / "wide.csv", index=False)
    narrow = frame.astype({"income": "float32", "site": "float32"})
    narrow.to_parquet(folder / "narrow.parquet")
    given = ("--constraint", "equalized_odds_difference[site] <= 0.25", "--group-thresholds")
    fit = ("fit", "wide.csv", "--target", "paid", *QUICK, *given, "--out", "out")
    done = run_program(*fit, cwd=folder)
    assert done.returncode in (0, 4), done.stderr
    return folder


def test_predictions_are_the_same(folder: Path) -> None:
    found = {}
    for name in ("wide.csv", "narrow.parquet"):
        done = run_program("predict", "out", name, "-o", f"{name}.out.csv", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "which the run did not know" not in done.stderr + done.stdout
        found[name] = pd.read_csv(folder / f"{name}.out.csv")["prediction"]
    assert found["wide.csv"].equals(found["narrow.parquet"])


def test_evaluations_are_the_same(folder: Path) -> None:
    said = []
    for name in ("wide.csv", "narrow.parquet"):
        done = run_program("evaluate", "out", name, cwd=folder)
        assert done.returncode in (0, 4), done.stderr
        # Rows that the model learned from are told by their exact values.
        lines = [line for line in done.stdout.splitlines() if "learned from" not in line]
        said.append((done.returncode, lines))
        assert "which the run" not in done.stdout + done.stderr
    assert said[0] == said[1]
