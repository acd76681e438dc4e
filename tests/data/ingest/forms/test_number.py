"""Numbers in text: every dialect reads back exactly, and nothing unreadable is lost."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.errors import DataError
from automl_admm.data.conforming import row_of
from automl_admm.data.ingest.forms.number import read_number, recognise_number, say_number


def column(*cells, **options):
    return pd.Series(list(cells), name="x", **options)


def read(cells, facts=None):
    """Return the numbers of cells by their own facts, which survive a JSON file."""
    cells = cells if isinstance(cells, pd.Series) else column(*cells)
    facts = recognise_number(cells) if facts is None else facts
    assert facts is not None
    return read_number(cells, json.loads(json.dumps(facts)), row_of)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,234.5", "2", "-3,000"], [1234.5, 2, -3000]),
        (["1 234,5", "2 000", "-3"], [1234.5, 2000, -3]),
        (["1\u202f234,5", "2\u00a0000"], [1234.5, 2000]),
        (["1'234", "2'000.5"], [1234, 2000.5]),
        (["1.234,5", "7"], [1234.5, 7]),
        (["12,34,567", "1,00,000"], [1234567, 100000]),
        (["1,5", "2,25"], [1.5, 2.25]),
        (["12%", "3.5%"], [12, 3.5]),
        (["12 %", "0"], [12, 0]),
        (["$3", "-$1,200.00", "$4.5"], [3, -1200, 4.5]),
        (["€ 5", "3 EUR", "4 €"], [5, 3, 4]),
        (["CHF 1'000.50", "CHF 20.00"], [1000.5, 20]),
        (["(5)", "7", "(1,000.5)"], [-5, 7, -1000.5]),
        (["$(5.00)", "$7.00"], None),
        (["−5", "+7"], [-5, 7]),
        (["12 kg", "7kg"], [12, 7]),
        (["3.5 GB", "500 MB", "2 TB"], [3.5, 0.5, 2000]),
        (["5K", "900", "1.2M"], [5000, 900, 1.2e6]),
        (["1 year", "18 months"], [12, 18]),
        (["1 room", "2 rooms"], [1, 2]),
        (["8/10", "7/10"], [8, 7]),
        (["1e5", "2.5E-3"], [1e5, 2.5e-3]),
        (["4163.59", "12"], [4163.59, 12]),
        (["2020", "2021"], [2020, 2021]),
        # A sum is no number with a unit, nor are two currencies one.
        (["12%", "0.5"], None),
        (["$3", "€4"], None),
        (["5 kg", "3 m"], None),
        (["12A", "13B"], None),
        (["10-20", "20-30"], None),
        (["1,23", "4.56"], None),
        (["1,23,4", "5"], None),
        (["5 days", "6 days"], None),
    ],
)
def test_a_column_is_read_in_its_dialect(cells, expected):
    if expected is None:
        assert recognise_number(column(*cells)) is None
    else:
        assert read(cells)[""].tolist() == expected


@pytest.mark.parametrize(
    "codes",
    [
        ["007", "012", "7"],
        ["10115", "80331"],
        ["0301234567", "0891234567"],
        ["+49 301 234 567", "+49 302 234 567"],
        ["1.2.3", "1.10.0"],
        ["192.168.100.200", "192.168.100.201"],
        ["2024-01-31", "2024-02-01"],
        ["12:30", "13:45"],
        ["A1", "A2"],
        ["No. 5", "No. 6"],
        ["yes", "no"],
        ["", " "],
        [None, None],
        [True, False],
        [1.5, 2.5],
        [["1"], ["2"]],
    ],
)
def test_codes_versions_and_other_things_are_no_numbers(codes):
    assert recognise_number(column(*codes)) is None


@pytest.mark.parametrize(
    ("cells", "expected", "is_unsure"),
    [
        (["1,234", "5,678"], [1234, 5678], True),
        (["1,234", "0,567"], [1.234, 0.567], False),
        (["1,234", "12,5"], [1.234, 12.5], False),
        (["1,234", "1234"], [1.234, 1234], False),
        (["1,234", "1,234,567"], [1234, 1234567], False),
        (["1.234", "5.678"], [1.234, 5.678], True),
        (["1.234", "1.234.567"], [1234, 1234567], False),
    ],
)
def test_the_whole_column_decides_on_thousands(cells, expected, is_unsure):
    facts = recognise_number(column(*cells))
    assert read(cells)[""].tolist() == expected
    assert ("taken for granted" in say_number(facts)) is is_unsure


def test_a_sign_beyond_the_sample_still_decides():
    cells = ["1,234"] * 5000 + [f"{number},125" for number in range(100, 900)] + ["12,5"]
    assert read(cells)[""].iloc[-1] == 12.5


def test_words_for_missing_values_are_missing_and_said():
    cells = column("1,5", "n.d.", "2,5", "Unknown", None, "")
    facts = recognise_number(cells)
    found = read_number(cells, facts, row_of)[""]
    np.testing.assert_array_equal(found, [1.5, np.nan, 2.5, np.nan, np.nan, np.nan])
    assert "'Unknown', 'n.d.' count as missing" in say_number(facts)


def test_words_between_numbers_get_a_column_each():
    cells = column(*map(str, range(20)), "broken")
    made = read(cells)
    assert list(made) == ["", ".broken"]
    assert made[".broken"].sum() == 1
    assert made[""].isna().sum() == 1
    assert "'broken'" in say_number(recognise_number(cells))


def test_many_words_make_no_numbers():
    assert recognise_number(column("1", "2", "low", "high")) is None
    assert recognise_number(column("unknown", "n/a", "5")) is None


@pytest.mark.parametrize("junk", ["abc", "1.2.3", "12 apples", "1,23,4", "--5", "1\n2", "5 €"])
def test_a_new_text_is_refused_by_name_and_place(junk):
    facts = recognise_number(column("1,234.5", "7", "unknown"))
    with pytest.raises(DataError, match=r"row 1 \(from 0\): column 'x' holds .* held numbers such"):
        read(["3", junk], facts)


def test_a_new_word_for_missing_is_refused_as_well():
    facts = recognise_number(column("1,234.5", "7"))
    with pytest.raises(DataError, match="unknown"):
        read(["unknown"], facts)
    assert read(["NA"], facts)[""].isna().all()


def test_a_number_without_its_percent_sign_is_refused():
    facts = recognise_number(column("12%", "50%"))
    with pytest.raises(DataError, match=r"'0\.5'"):
        read(["0.5"], facts)


@pytest.mark.parametrize(
    "cells",
    [
        column("9.8%", "50%"),
        column("12 %", "0", "3%"),
        column("$3", "$1,200"),
        column("5 kg", "7 kg"),
        column("3 GB", "500 MB", "4 GB"),
    ],
    ids=["percent", "percent and 0", "currency", "unit", "units"],
)
@pytest.mark.parametrize(
    "bare",
    [
        column(0.0, 0.098),
        column(0, 1),
        column(0.0, 0.098, dtype="Float64"),
        column("0", 0.098, dtype=object),
        column(Decimal(0), Decimal("0.098")),
        column("0", "0.098"),
        column("0.0", " 0.098 "),
    ],
    ids=["float", "int", "nullable", "mixed", "decimal", "text", "blanks"],
)
def test_a_number_without_the_sign_of_training_is_refused(cells, bare):
    facts = recognise_number(cells)
    with pytest.raises(DataError, match=r"row 1 .*'x' holds .*, and held numbers such") as refused:
        read(bare, facts)
    assert "as in training" in refused.value.hint or "with its sign" in refused.value.hint
    assert read(bare.iloc[:1], facts)[""].tolist() == [0], "nothing is nothing in any unit"


def test_numbers_without_a_sign_are_read_where_training_had_both():
    for cells in (column("$3", "4"), column("$3", "$5", 4, dtype=object), column("5K", "900")):
        facts = recognise_number(cells)
        assert read(column(2.5, 7.0), facts)[""].tolist() == [2.5, 7]
        assert read(["2.5", "7"], facts)[""].tolist() == [2.5, 7]
    for numbers in (["12%", "3%", 0.5], ["3 GB", "500 MB", 4]):
        assert recognise_number(column(*numbers, dtype=object)) is None


def test_a_later_unit_of_the_same_kind_converts():
    facts = recognise_number(column("3 GB", "500 MB", "4 GB"))
    assert read(["1 TB"], facts)[""].tolist() == [1000]


@pytest.mark.parametrize(
    "make",
    [
        lambda n: column(*n),
        lambda n: column(*map(str, n)),
        lambda n: column(*map(str, n), dtype="category"),
        lambda n: column(*n, dtype="category"),
        lambda n: column(*n, dtype="Float64"),
        lambda n: column(*n, dtype="double[pyarrow]"),
        lambda n: column(*map(str, n), dtype="string[pyarrow]"),
        lambda n: column(*map(str, n), dtype=pd.ArrowDtype(__import__("pyarrow").string())),
        lambda n: column(*[Decimal(str(v)) for v in n]),
        lambda n: column(n[0], *map(str, n[1:]), dtype=object),
        lambda n: column(*[f" {v} " for v in n]),
        lambda n: column(*[f"{v:,}" for v in n]),
    ],
)
def test_every_type_of_the_same_numbers_reads_alike(make):
    numbers = [1234.5, 0.125, -7000.25]
    facts = recognise_number(column("1,234.5", "2.5"))
    cells = make(numbers)
    cells.index = [5, 3, 1]
    found = read(cells, facts)[""]
    assert found.tolist() == numbers
    assert found.dtype == float
    assert list(found.index) == [5, 3, 1]


def test_infinite_numbers_are_missing():
    facts = recognise_number(column("1,234.5", "7", "inf"))
    assert read(column(np.inf, 1.0), facts)[""].isna().tolist() == [True, False]
    assert read(["inf", "1"], facts)[""].isna().tolist() == [True, False]


def test_infinite_numbers_of_a_frame_are_missing_in_a_file_too():
    facts = recognise_number(column(1.0, 2.5, np.inf))
    found = read(column("1.0", "inf", "-Infinity"), facts)[""]
    assert found.isna().tolist() == [False, True, True]
    with pytest.raises(DataError, match="holds 'many', and held numbers in training"):
        read(column("1.0", "many"), facts)


@pytest.mark.parametrize("size", [1e300, -1e35, 1e-35, 1e-320, 5e-324])
def test_numbers_of_extreme_size_are_scaled_without_loss(size):
    cells = column(size, 0.5 * size, 0.0, np.nan, np.inf)
    found = read(cells)[""]
    assert 0.5 <= abs(found[0]) <= 1
    assert found[2] == 0
    assert found.isna().tolist() == [False, False, False, True, True]
    if abs(size) > 1e-300:  # half of the smallest number is none
        assert found[1] == 0.5 * found[0]
    facts = recognise_number(cells)
    assert "extreme size" in say_number(facts)
    assert np.isfinite(read(column(1.7e308, -1.7e308), facts)[""]).all()
    assert recognise_number(column(1e20, 1e-20, -3.0, np.nan)) is None


@pytest.mark.parametrize("fill", [1e39, 9.96921e36, -1.797693134862315e308])
@pytest.mark.parametrize("odd", [[], [np.inf], [np.nan, 0.0]])
def test_a_few_extreme_numbers_among_ordinary_ones_count_as_missing(fill, odd):
    cells = column(0.5, -1.25, 3.0, fill, 1e19, fill, *odd)
    facts = recognise_number(cells)
    assert f"such as {fill:g}, count as missing" in say_number(facts)
    found = read(cells, facts)[""]
    assert found[[0, 1, 2, 4]].tolist() == [0.5, -1.25, 3.0, 1e19]
    assert found[[3, 5]].isna().all()
    kept = json.loads(json.dumps(facts))
    assert read(column(7.0, fill, -1e31, 1e25), kept)[""].isna().tolist() == [
        False,
        True,
        True,
        False,
    ]
    assert read(["7", "1e39"], kept)[""].isna().tolist() == [False, True]


@pytest.mark.parametrize("ordinary", [(1.0,), (1e25, 1.0, 2.0), ()])
def test_a_column_that_is_extreme_as_a_whole_is_scaled(ordinary):
    facts = recognise_number(column(1e35, *ordinary))
    assert "exponent" in facts
    assert "fill" not in facts


def test_numbers_of_all_sizes_keep_their_order_in_few_bits():
    """Scaled to the largest one the smaller half would be 0 to a tree."""
    sizes = 10.0 ** np.arange(-320, 300, 7)
    numbers = column(*-sizes[::-1], 0.0, *sizes)
    facts = recognise_number(numbers)
    found = read(numbers, json.loads(json.dumps(facts)))[""].to_numpy()
    assert (np.diff(found.astype(np.float32)) > 0).all()
    assert found[len(sizes)] == 0
    assert read(column(1e-323, -np.inf, np.nan), facts)[""].isna().tolist() == [False, True, True]


def test_small_numbers_beside_a_fill_are_scaled_by_their_own_size():
    found = read(column(1e-35, 5e-36, 2e-35, 1e39))[""]
    assert 0.5 <= found[2] <= 1
    assert found.isna().tolist() == [False, False, False, True]


def written(value, decimal, thousands):
    """Write a number in a dialect, to its last digit."""
    whole, _, rest = f"{Decimal(value):,f}".partition(".")
    return whole.replace(",", thousands) + (decimal + rest if rest else "")


DIALECTS = [(".", ""), (".", ","), (",", "."), (",", " "), (".", " "), (".", "'"), (",", "'")]
DRESSES = ["{}", "{} kg", "$ {}", "{}%", "{} €", " {} "]


@given(
    st.lists(st.decimals(-(10**12), 10**12, places=2), min_size=1, max_size=30),
    st.sampled_from(DIALECTS),
    st.sampled_from(DRESSES),
)
def test_numbers_of_any_dialect_read_back_exactly(values, signs, dress):
    # These two tell the dialect; all others are to follow.
    values = [*values, Decimal("1234567.25"), Decimal("0.5")]
    cells = [dress.format(written(value, *signs)) for value in values]
    assert read(cells)[""].tolist() == [float(value) for value in values]


@given(st.lists(st.text(max_size=12) | st.none(), max_size=20))
def test_whatever_is_recognised_can_be_read(texts):
    cells = column(*texts, dtype=object)
    facts = recognise_number(cells)
    if facts is not None:
        found = read(cells, facts)
        lost = found[""].isna() & cells.notna() & (cells.str.strip() != "")
        told = {*facts.get("missing", ()), *facts.get("words", ())}
        for text in cells[lost].str.strip():
            assert text in told or text in say_markers()


def say_markers():
    from automl_admm.data.table_schema import MISSING_TEXTS

    return MISSING_TEXTS


@pytest.mark.parametrize("odd", ["1_000", "Nan", "inf", "1 2", "1.2.3", "1\n2", "--1", "$", "1e"])
@pytest.mark.parametrize("written", ["{}", "${}", "{}%"])
def test_the_quick_way_for_many_numbers_takes_nothing_that_the_patterns_refuse(odd, written):
    numbers = [written.format(n / 4) for n in range(50)]
    facts = recognise_number(column(*numbers))
    assert read(numbers, facts)[""].tolist() == [n / 4 for n in range(50)]
    with pytest.raises(DataError, match="row 50"):
        read([*numbers, written.format(odd)], facts)
    assert read([*numbers, "NA", None], facts)[""].isna().sum() == 2


@pytest.mark.parametrize("dtype", ["float32", "float64", "Float64"])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_extremes_of_a_column_of_numbers_are_seen_in_every_width(dtype, sign):
    def facts(*values):
        cells = pd.Series([sign * value for value in values], dtype="float64")
        return recognise_number(cells.astype(dtype))

    assert facts(1.0, np.nan, 3.0) is None
    assert facts(np.nan, np.nan) is None
    assert facts(0.0, 1e-3) is None
    assert facts(1e31, 2.0)["exponent"] == -103
    assert facts(1e-31, 0.0)["exponent"] == 102
    assert facts(np.inf, 2.0)["has_infinite"] is True
    assert facts(np.inf, 2.0).get("exponent") is None
    assert facts(np.inf, 1e31)["exponent"] == -103
