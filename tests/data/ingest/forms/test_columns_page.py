"""The tables of docs/reference/columns.md are true, row by row."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from automl_admm.data.ingest.forms.known import FORMS

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "columns.md"
ROW = re.compile(r"^\| (`.*`) \| (\w+) \| (.+) \|$", re.MULTILINE)
PART = re.compile(r"^## What is recognised\n.*?(?=^## Another kind)", re.MULTILINE | re.DOTALL)
ROWS = ROW.findall(PART.findall(PAGE.read_text(encoding="utf-8"))[0])


def test_there_are_rows():
    assert len(ROWS) > 25


@pytest.mark.parametrize(("cells", "kind"), [row[:2] for row in ROWS])
def test_cells_are_of_the_kind_of_the_page(cells, kind):
    column = pd.Series(re.findall("`([^`]*)`", cells) * 2, name="x")
    found = (form.kind for form in FORMS if form.recognise(column) is not None)
    assert next(found, "category") == kind
