"""Targets that are not what they seem, through the commands."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.ingest.doubts import task_of

ROWS = 120
RNG = np.random.default_rng(4)
SEARCH = ("--grammar", "tiny", "--cv=2", "--max-evaluations", "1", "--out", "out")


def write(**columns):
    x = RNG.normal(size=ROWS)
    pd.DataFrame({"x": x} | columns).to_csv("table.csv", index=False)


@pytest.mark.parametrize("command", [("inspect",), ("fit", *SEARCH)])
@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ("9,876", "',' may part thousands or stand before decimals"),
        ("none left", "'none left' stand between them"),
    ],
)
def test_a_target_of_doubtful_amounts_is_refused_in_a_line(run, tmp_path, command, odd, said):
    form = "{:,.0f}" if odd[0] == "9" else "{:,.2f}"
    write(y=[*(form.format(one) for one in RNG.uniform(1001, 9000, ROWS - 5)), *[odd] * 5])
    refused = run(command[0], "table.csv", "--target", "y", *command[1:])
    assert refused.code == 3
    (line,) = refused.err.strip().splitlines()
    assert "the target 'y' holds numbers in text, such as '" in line
    assert said in line
    assert "--task classification" in line
    assert not (tmp_path / "out").exists()


def test_plain_numbers_in_text_are_told_to_be_too_many_for_classes():
    with pytest.raises(DataError, match=r"such as '99\.5', too many of them for classes\. Write"):
        task_of(pd.Series([str(one + 0.5) for one in range(ROWS)], name="y"))


def test_the_decimal_sign_settles_the_doubt(run):
    write(y=[f"{one:,.0f}" for one in RNG.uniform(1001, 9000, ROWS)])
    shown = run("inspect", "table.csv", "--target", "y", "--decimal", "point")
    assert shown.code == 0, shown.err
    assert "regression of 'y'" in shown.out
    assert "target 'y': numbers in text, such as '" in shown.out


def test_amounts_can_be_kept_as_classes_and_their_number_is_told(run):
    amounts = [f"${one},000.00" for one in range(1, 41)]
    write(y=amounts * 3)
    done = run("fit", "table.csv", "--target", "y", "--task", "classification", *SEARCH)
    assert done.code == 0, done.err
    assert "warning: the target 'y' has 40 classes in 120 rows" in done.err


def test_classes_that_differ_only_in_case_or_blanks_are_told(run):
    write(y=["Yes", "yes", "No", "no "] * (ROWS // 4))
    done = run("fit", "table.csv", "--target", "y", *SEARCH)
    assert done.code == 0, done.err
    assert "differ only in case or blanks: 'Yes' and 'yes', 'No' and 'no ';" in done.err
    shown = run("inspect", "table.csv", "--target", "y", "--json")
    (doubt,) = json.loads(shown.out)["doubts"]
    assert "'No' and 'no '" in doubt


def test_a_file_without_a_header_is_told(run):
    rows = RNG.normal(size=(ROWS, 3)).round(2)
    rows[0] = (5.1, 3.5, 1.4)
    pd.DataFrame(rows).assign(y=[0, 1] * (ROWS // 2)).to_csv("bare.csv", header=False, index=False)
    done = run("fit", "bare.csv", "--target", "0", *SEARCH)
    assert done.code == 0, done.err
    told = "warning: the names of the columns are numbers alone (5.1, 3.5, 1.4, 0): is the first"
    assert told in done.err
    assert told in run("inspect", "bare.csv", "--target", "0").err
    assert told in run("inspect", "bare.csv").err
