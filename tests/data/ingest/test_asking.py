"""Kinds that users choose: read the same from every type, or refused with the first cell."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import ConfigurationError, DataError, StoreError
from automl_admm.data.ingest.applying import make_columns, take_in
from automl_admm.data.ingest.deciding import decide
from automl_admm.data.ingest.records import Ingest, Reading

FRAME = pd.DataFrame(
    {
        "zip": [1, 20, 3, 20],
        "share": [0.5, np.nan, 2.0, 0.5],
        "flag": [True, False, True, True],
        "code": ["007", "12", "013", "12"],
        "word": ["b", "a", "b", "c"],
    }
)
ASKED = {"zip": "category", "share": "category", "flag": "number", "code": "number"}


def made_of(frame: pd.DataFrame) -> pd.DataFrame:
    return make_columns(frame, decide(FRAME, ASKED))


def test_what_was_asked_is_what_becomes_of_a_column():
    ingest = decide(FRAME, ASKED)
    made = take_in(FRAME, ingest).made
    assert made["zip"].tolist() == ["1", "20", "3", "20"]
    assert made["share"].isna().tolist() == [False, True, False, False]
    assert made["share"].dropna().tolist() == ["0.5", "2", "0.5"]
    assert made["flag"].tolist() == [1.0, 0.0, 1.0, 1.0]
    assert made["code"].tolist() == [7.0, 12.0, 13.0, 12.0]
    assert (ingest.numeric, ingest.categorical) == (("flag", "code"), ("zip", "share", "word"))
    assert [reading.is_asked for reading in ingest.readings] == [True] * 4 + [False]


@pytest.mark.parametrize(
    "changes",
    [
        {"zip": ["1", "20.0", " 3", "020"], "flag": ["true", "FALSE", "1", "1.0"]},
        {"zip": [1.0, 20.0, 3.0, 20.0], "code": [7, 12, 13, 12], "flag": [1, 0, 1, 1]},
        {"zip": pd.Categorical([1, 20, 3, 20]), "share": ["0.5", "", "2.00", ".5"]},
        {"zip": pd.array([1, 20, 3, 20], dtype="Int64"), "share": ["0.50", "NA", "2", "0.5"]},
        {"zip": [Decimal(1), Decimal(20), Decimal("3.0"), Decimal(20)]},
    ],
)
def test_any_type_of_the_same_values_gives_the_same_columns(changes):
    pd.testing.assert_frame_equal(made_of(FRAME.assign(**changes)), made_of(FRAME))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"zip": ["1", "n.d.", "3", "20"]}, r"row 1 .*column 'zip' holds 'n\.d\.'"),
        ({"code": ["7", "1_2", "13", "12"]}, "'code' holds '1_2'"),
        ({"flag": ["true", "maybe", "1", "0"]}, "row 1 .*'flag' holds 'maybe'"),
        ({"share": [1j, 2.0, 3.0, 4.0]}, "'share' holds"),
    ],
)
def test_a_cell_that_was_impossible_in_training_is_named(changes, said):
    with pytest.raises(DataError, match=said):
        made_of(FRAME.assign(**changes))


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"word": "number"}, DataError, r"row 0 .*'word' cannot be read as number; it holds 'b'"),
        ({"zipp": "number"}, ConfigurationError, "no column 'zipp' .*Did you mean 'zip'"),
        ({"zip": "categry"}, ConfigurationError, "read as 'categry'.*Did you mean 'category'"),
        ({"zip": "\x1b[31m"}, ConfigurationError, "Known: boolean"),
        (dict.fromkeys(FRAME, "drop"), DataError, "no column is left to learn from"),
    ],
)
def test_what_cannot_be_is_refused(asked, error, said):
    with pytest.raises(error, match=said):
        decide(FRAME, asked)


WHOLE = [2**62, 2**62 + 1, 2**53 + 1, 7]


@pytest.mark.parametrize(
    "later",
    [
        WHOLE,
        np.array(WHOLE, dtype=object),
        [str(one) for one in WHOLE],
        [Decimal(one) for one in WHOLE],
        pd.array(WHOLE, dtype="Int64"),
    ],
    ids=["integers", "objects", "texts", "decimals", "nullable"],
)
def test_large_whole_numbers_are_categories_of_their_own(later):
    ingest = decide(pd.DataFrame({"id": WHOLE}), {"id": "category"})
    found = make_columns(pd.DataFrame({"id": later}), ingest)["id"]
    assert found.tolist() == [str(one) for one in WHOLE]


def test_a_number_beyond_all_floats_is_a_category_and_one_in_floats_is_as_exact_as_it_was():
    whole = pd.Series([10**400, 10**400 + 1, 1, 2], dtype=object)
    given = pd.DataFrame({"id": whole})
    made = make_columns(given, decide(given, {"id": "category"}))["id"]
    assert made.nunique() == 4
    floats = pd.DataFrame({"id": [2.0**62, 7.0, 0.5]})
    found = make_columns(floats, decide(floats, {"id": "category"}))["id"]
    assert found.tolist() == [str(2**62), "7", "0.5"]


def test_a_dropped_column_may_be_absent_or_hold_anything():
    ingest = decide(FRAME, {"word": "drop", "zip": "category"})
    for later in (FRAME.drop(columns="word"), FRAME.assign(word=[object()] * 4)):
        assert list(make_columns(later, ingest)) == ["zip", "share", "flag", "code"]


def test_a_missing_column_is_named_and_any_index_stays():
    ingest = decide(FRAME, ASKED)
    with pytest.raises(DataError, match="columns are missing: 'zip'"):
        make_columns(FRAME.drop(columns="zip"), ingest)
    odd = FRAME.set_axis(["x", "x", None, "x"])
    assert make_columns(odd, ingest).index.equals(odd.index)


def test_names_of_numbers_are_texts_in_what_is_made():
    frame = FRAME.set_axis(range(5), axis=1)
    ingest = decide(frame, {0: "category", "3": "number"})
    assert list(take_in(frame, ingest).made) == list("01234")
    array = frame.to_numpy(dtype=object)
    pd.testing.assert_frame_equal(
        take_in(array, decide(array, {0: "category", 3: "number"})).made,
        take_in(frame, ingest).made,
    )


@pytest.mark.parametrize(
    "facts", [{"form": "telepathy"}, {"form": "levels"}, {"form": 3}, {"a": 1}]
)
def test_facts_without_a_sense_are_refused_in_one_line(facts):
    ingest = Ingest((Reading("zip", "category", facts, ("zip",)),))
    with pytest.raises(StoreError, match="cannot be read as in training"):
        make_columns(FRAME, ingest)


TENTHS = [0.1, 0.7, None, 1e20, 0.1]
FLOATS = {
    "wide": TENTHS,
    "float32": pd.array(TENTHS, dtype="float32"),
    "float32[pyarrow]": pd.array(TENTHS, dtype="float[pyarrow]"),
    "Float32": pd.array(TENTHS, dtype="Float32"),
    "categories": pd.Categorical(pd.Series(TENTHS, dtype="float32")),
    "scalars": pd.Series(
        [None if one is None else np.float32(one) for one in TENTHS], dtype=object
    ),
}
TEXTS = {"texts": ["0.1", "0.7", "", "1e20", ".1"]}


@pytest.mark.parametrize("later", [*FLOATS, *TEXTS])
@pytest.mark.parametrize("trained", FLOATS)
def test_a_number_is_one_level_in_floats_of_any_width(trained: str, later: str) -> None:
    ingest = decide(pd.DataFrame({"r": FLOATS[trained]}), {"r": "category"})
    made = make_columns(pd.DataFrame({"r": (FLOATS | TEXTS)[later]}), ingest)["r"]
    assert made.dropna().tolist() == ["0.1", "0.7", f"1{20 * '0'}", "0.1"]


def test_a_narrow_float_that_was_widened_is_the_level_of_training() -> None:
    narrow = pd.DataFrame({"r": [0.1, 0.7]}).astype("float32")
    ingest = decide(narrow, {"r": "category"})
    assert make_columns(narrow.astype(float), ingest)["r"].tolist() == ["0.1", "0.7"]
    near = pd.DataFrame({"r": [0.1 + 1e-12, 16777217]})
    assert make_columns(near, ingest)["r"].tolist() == [repr(0.1 + 1e-12), "16777217"]


def test_two_bytes_are_enough_for_a_level() -> None:
    half = pd.DataFrame({"r": [0.1, 0.7]}).astype("float16")
    for later in (half, half.astype("float64"), pd.DataFrame({"r": [0.1, 0.7]})):
        made = make_columns(later, decide(half, {"r": "category"}))
        assert made["r"].tolist() == ["0.1", "0.7"]


def test_a_widened_column_of_numbers_has_the_levels_of_its_narrow_type() -> None:
    widened = pd.DataFrame({"r": pd.Series([0.1, 0.7], dtype="float32").astype(float)})
    ingest = decide(widened, {"r": "category"})
    for later in (widened, widened.astype(str), pd.DataFrame({"r": [0.1, 0.7]})):
        assert make_columns(later, ingest)["r"].tolist() == ["0.1", "0.7"]


@pytest.mark.parametrize("cells", [[0.5, 1234567.125], [2.0**62, 0.5], [0.1 + 1e-12, 0.5]])
def test_numbers_that_somebody_wrote_are_no_widened_ones(cells: list[float]) -> None:
    frame = pd.DataFrame({"r": cells})
    made = make_columns(frame, decide(frame, {"r": "category"}))["r"]
    assert made.map(float).tolist() == cells
