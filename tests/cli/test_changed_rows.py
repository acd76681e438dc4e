"""Limits that ask the model about changed rows, from the fit to other processes and formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

SEARCH = (
    *("--target", "bad", "--grammar", "tiny", "--cv=2", "--max-evaluations", "1"),
    *("--theta-solver", "random", "--executor", "inline"),
)


def table(rows: int = 700) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(18, 60, rows).astype(float)})
    frame["bad"] = np.where(frame["age"] + 4 * rng.normal(size=rows) > 40, "yes", "no")
    frame.loc[rng.random(rows) < 0.1, "age"] = np.nan
    frame["sex"], frame["income"] = rng.choice(["f", "m"], rows), rng.normal(size=rows)
    return frame


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    frame = table()
    frame.to_csv("rows.csv", index=False)
    return frame


def test_a_proof_about_raised_values_is_verified_from_another_format(
    run: Any, rows: pd.DataFrame
) -> None:
    # With 'no' as the positive class the score falls with age.
    given = ("--constraint", "falling_breaks_7[age] <= 8 %", "--positive", "no")
    done = run("fit", "rows.csv", *given, "--certify", "0.9", "--out", "out", *SEARCH)
    assert done.code == 0, done.err
    (finding,) = json.loads(Path("out/certificate.json").read_text())["findings"]
    assert (finding["verdict"], finding["is_approximate"]) == ("certified", False)
    places = json.loads(Path("out/certification-rows.json").read_text())["places"]
    assert int(rows["age"].iloc[places].notna().sum()) in finding["counts"].values()
    rows.astype({"age": "Int64", "sex": "category"}).to_parquet("rows.parquet")
    again = run("verify", "out", "rows.parquet")
    assert again.code == 0, again.out + again.err
    # A limit that the model breaks is measured, too, and its direction is that of the class.
    wrong = ("--constraint", "rising_breaks_7[age] <= 8 %", "--positive", "no", "--out", "wrong")
    assert run("fit", "rows.csv", *wrong, *SEARCH).code == 5
    assert (
        "rising_breaks_7[age] <= 0.08: 1 (the run: 1): BROKEN"
        in run("evaluate", "wrong", "rows.parquet").out
    )


@pytest.mark.parametrize(
    ("limit", "code", "says"),
    [
        ("rising_breaks_5[sex]", 3, "column 'sex' holds no numbers"),
        (
            "rising_breaks_5[agee]",
            3,
            "the column 'agee', but the table has no column of that name. Did you mean 'age'",
        ),
        ("rising_breaks_5[when]", 3, "column 'when' holds no numbers"),
        ("rising_breaks_5", 2, "is measured by one column of numbers"),
        ("rising_breaks_5[age:q4]", 2, "is measured by one column of numbers"),
        ("rising_breaks[age]", 2, "'rising_breaks' needs a number after its name"),
        ("rising_breaks_0[age]", 2, "the column is raised by a number above 0"),
    ],
)
def test_what_cannot_be_raised_is_told_in_a_line(
    limit: str, code: int, says: str, run: Any, rows: pd.DataFrame
) -> None:
    rows.assign(when=pd.date_range("2020-01-01", periods=len(rows))).to_csv("rows.csv", index=False)
    found = run("fit", "rows.csv", "--constraint", f"{limit} <= 0.1", *SEARCH)
    assert (found.code, found.err.count("\n")) == (code, 1), found.err
    assert says in found.err


def test_a_column_that_no_pipeline_sees_or_rows_with_weights_are_refused(
    run: Any, rows: pd.DataFrame
) -> None:
    limit = ("--constraint", "rising_breaks_5[age] <= 0.1")
    hidden = run("fit", "rows.csv", *limit, "--sensitive", "age", *SEARCH)
    assert hidden.code == 3
    assert "changes the column 'age', which the model is not given" in hidden.err
    rows.assign(weight=np.where(rows["sex"] == "f", 2.0, 1.0)).to_csv("rows.csv", index=False)
    weighed = run("fit", "rows.csv", *limit, "--weight", "weight", *SEARCH)
    assert weighed.code == 2
    assert "limit 'rising_breaks_5[age]' takes no weights of rows" in weighed.err
