"""One table in every form of file is the same table, first and by the types of training."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from file_forms import FORMS, write_all

from automl_admm.data.reading.chunks import read_chunks
from automl_admm.data.reading.file_options import NO_OPTIONS
from automl_admm.data.reading.tables import read_table
from automl_admm.data.reading.timed_reading import read_again, read_in_time
from automl_admm.data.sample_table import shipped_table
from automl_admm.data.table_schema import schema_of

SHARED = Path(__file__).parents[4] / "shared" / "data"


def odd_table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "whole": [1, -2, 3, 4_000_000],
            "part": [0.5, 1234.25, -1e-7, 0.1],
            "gaps": [1.5, None, 3.25, None],
            "code": ["007", "7", "08", "0"],
            "joined": ["1_000", "2_000", "1_000", "30_00"],
            "a text": ["a, b; c\td|e", 'said "no" isn\'t', "Müller  ", "100 %"],
            "with gaps": ["x", None, "y", None],
            "yes": [True, False, True, True],
            "Größe in m": [1.25, 1.5, 2.0, 3.5],
            "y": ["no", "yes", "no", "yes"],
        }
    )


def read_shared(path: Path) -> pd.DataFrame:
    return read_table(path, keep_codes=True).head(300)


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "odd": odd_table,
    "german_credit": lambda: shipped_table()[0].head(200),
    **{path.stem: partial(read_shared, path) for path in sorted(SHARED.glob("*.csv"))},
}


@pytest.mark.parametrize("name", TABLES)
def test_every_form_of_file_is_the_same_table(name: str, tmp_path: Path) -> None:
    written = TABLES[name]()
    files = write_all(written, tmp_path)
    expected = read_table(files[0], keep_codes=True)
    schema = schema_of(expected)
    for path in files:
        found = read_table(path, keep_codes=True)
        pd.testing.assert_frame_equal(found, expected, check_exact=True, obj=path.name)
        again = read_table(path, schema=schema)
        pd.testing.assert_frame_equal(again, expected, check_exact=True, obj=path.name)


@pytest.mark.parametrize("form", [name for name in FORMS if "gz" not in name])
def test_a_share_of_every_form_is_read_again(form: str, tmp_path: Path) -> None:
    few = odd_table()
    # Pieces put together would stay thousands of pieces where Arrow holds them.
    frame = few.iloc[np.arange(8_000 * len(few)) % len(few)].reset_index(drop=True)
    frame["row"] = range(len(frame))
    path = tmp_path / form
    FORMS[form](frame, path)
    found, share = read_in_time(path, 0.0)
    assert found["row"].is_monotonic_increasing
    assert found["row"].is_unique
    expected = frame.loc[found["row"], "part"].tolist()
    assert found["part"].tolist() == expected
    again = read_again(path, schema_of(found), share)
    pd.testing.assert_frame_equal(again, found)
    # Of these all is read: a list of records has no pieces, Feather is quick, Parquet is short.
    is_whole = form in ("array.json", "table.feather", "table.parquet")
    assert (len(found) == len(frame)) == is_whole
    assert is_whole == (share is None)


@pytest.mark.parametrize("form", ["table.feather", "lines.jsonl", "table.arff", "array.json"])
def test_files_with_types_have_no_dialect(form: str, tmp_path: Path) -> None:
    """Their bytes may look like columns parted by two signs."""
    frame = pd.DataFrame({"a;b": ["x,y;z", "p,q;r"], "c;d": ["1,2;3", "4,5;6"], "e": [1.5, 2.5]})
    FORMS[form](frame, tmp_path / form)
    (chunk,) = read_chunks(tmp_path / form, schema_of(frame), (), NO_OPTIONS)
    assert chunk.frame["e"].tolist() == [1.5, 2.5]
