"""The dialect of a CSV file: found where it is plain, refused where it may be another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.data.reading.chunks import read_chunks
from automl_admm.data.reading.file_options import FileOptions, file_options
from automl_admm.data.reading.tables import read_table
from automl_admm.data.reading.timed_reading import read_in_time
from automl_admm.data.table_schema import schema_of

SIGNS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "whole": [1, -2, 3000000],
            "part": [0.5, 1.234, -1e-12],
            "gaps": [1.5, None, 3.0],
            "code": ["007", "7", "0"],
            "text": ["a, b; c\td|e", 'said "no"', "Müller, Žižek"],
            "yes": [True, False, True],
        }
    )


def read(text: str, folder: Path, **said: str) -> tuple[pd.DataFrame, list[str]]:
    path, told = folder / "t.csv", list[str]()
    path.write_text(text)
    options = file_options(**said, tell=told.append)
    return read_table(path, keep_codes=True, options=options), told


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
def test_every_separator_and_decimal_sign_gives_the_same_table(
    sign: str, decimal: str, frame: pd.DataFrame, tmp_path: Path
) -> None:
    expected = read(frame.to_csv(index=False), tmp_path)[0]
    found, told = read(frame.to_csv(index=False, sep=sign, decimal=decimal), tmp_path)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert found["code"].tolist() == ["007", "7", "0"]
    assert found["part"].tolist() == [0.5, 1.234, -1e-12]
    words = {";": ["semicolons"], "\t": ["tabs"], "|": ["bars"]}.get(sign, [])
    words += ["decimal commas"] if decimal == "," else []
    assert told == ([f"t.csv: {', '.join(words)}"] if words else [])


def test_commas_in_the_only_text_of_a_semicolon_file_are_text(tmp_path: Path) -> None:
    found, _ = read("n;note\n1;one, two\n2;three, four\n", tmp_path)
    assert found["note"].tolist() == ["one, two", "three, four"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b;c\n1,2;3\n", r"commas \(2 columns\) or semicolons \(2 columns\).*--separator"),
        ("a,b,c\n1;2;3\n4;5;6\n", "header is parted by commas, and its rows by semicolons"),
        ("a;b\n1,234;x\n2,345;y\n", "1,234 in column 'a' has a decimal comma, or a thousands"),
        ("a;b\n1;2\n1;2;3\n", "line 3: 3 fields, but the header has 2.* needless semicolon"),
        ("a\tb\n1\t2\n1\n", "line 3: 1 field.* needless tab"),
    ],
)
def test_what_may_be_two_things_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        read(text, tmp_path)


def test_what_is_open_is_read_as_the_user_says(tmp_path: Path) -> None:
    assert list(read("a,b;c\n1,2;3\n", tmp_path, separator="comma")[0]) == ["a", "b;c"]
    assert list(read("a,b;c\n1,2;3\n", tmp_path, separator=";")[0]) == ["a,b", "c"]
    assert read("a;b\n1,234;x\n", tmp_path, decimal="comma")[0]["a"].tolist() == [1.234]
    assert read("a;b\n1,234;x\n", tmp_path, decimal="point")[0]["a"].tolist() == ["1,234"]


def test_options_that_do_not_exist_are_refused() -> None:
    for given in (
        {"separator": "x"},
        {"decimal": ";"},
        {"encoding": "utf-99"},
        {"encoding": "hex"},
        {"encoding": "idna"},
    ):
        with pytest.raises(ConfigurationError, match=r"\. Known are: "):
            file_options(**given)
    assert file_options(separator=r"\t") == FileOptions("\t")


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,5", "2"], [1.5, 2]),
        (["0,250", "1,500"], [0.25, 1.5]),
        (["1234,567", "1"], [1234.567, 1]),
        (["1.234,5", "1.000"], [1234.5, 1000]),
        (["1,5e3", "-,5"], [1500, -0.5]),
        (["1,234,567", "1,234"], ["1,234,567", "1,234"]),
        (["1,234.5", "1,234"], ["1,234.5", "1,234"]),
        (["1,5", "1.5"], ["1,5", "1.5"]),
        (["1,5", "n.d."], ["1,5", "n.d."]),
        (["12.03.2024", "13.03.2024"], ["12.03.2024", "13.03.2024"]),
    ],
)
def test_decimal_commas_are_told_from_thousands_commas(
    cells: list[str], values: list[object], tmp_path: Path
) -> None:
    rows = "".join(f"{cell};x\n" for cell in cells)
    assert read(f"a;b\n{rows}", tmp_path)[0]["a"].tolist() == values


def test_a_file_with_decimal_points_keeps_its_commas_as_text(tmp_path: Path) -> None:
    found, told = read("a;b;c\n1.5;1,5;1,234\n2.5;2,5;2,345\n", tmp_path)
    assert found["a"].tolist() == [1.5, 2.5]
    assert found["b"].tolist() == ["1,5", "2,5"]
    assert found["c"].tolist() == ["1,234", "2,345"]
    assert told == ["t.csv: semicolons"]


@pytest.mark.parametrize("budget", [None, 1e6])
def test_decimal_commas_far_down_are_found(budget: float | None, tmp_path: Path) -> None:
    path, told = tmp_path / "t.csv", list[str]()
    path.write_text("a;b\n" + "1;0\n" * 400_000 + "2,5;1.250\n")
    options = file_options(tell=told.append)
    if budget is None:
        found = read_table(path, keep_codes=True, options=options)
    else:
        found, share = read_in_time(path, budget, options)
        assert share is None
    assert found["a"].iloc[-1] == 2.5
    assert found["b"].iloc[-1] == 1250
    assert told == ["t.csv: semicolons, decimal commas"]


def test_a_new_file_has_a_dialect_of_its_own_and_the_types_of_training(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    trained = read(frame.to_csv(index=False, sep=";", decimal=","), tmp_path)[0]
    schema = schema_of(trained)
    for sign, decimal in ((",", "."), ("\t", ","), ("|", ".")):
        path = tmp_path / "new.csv"
        frame.iloc[:2].to_csv(path, index=False, sep=sign, decimal=decimal)
        found = read_table(path, schema=schema)
        pd.testing.assert_frame_equal(found, trained.iloc[:2], check_exact=True)


def test_a_wrong_cell_of_a_semicolon_file_has_its_line(tmp_path: Path) -> None:
    schema = schema_of(pd.DataFrame({"a": [1.5], "b": ["x"]}))
    path = tmp_path / "t.csv"
    path.write_text('a;b\n1,5;"x\ny"\n\nn.d.;y\n')
    with pytest.raises(DataError, match=r"t\.csv, line 5: column 'a' holds 'n\.d\.'"):
        read_table(path, schema=schema)


def test_a_share_of_a_semicolon_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("n;part\n" + "".join(f"{i};{i},5\n" for i in range(300_000)))
    frame, share = read_in_time(path, 0.0)
    assert share is not None
    assert (frame["part"] == frame["n"] + 0.5).all()
    from automl_admm.data.reading.timed_reading import read_again

    pd.testing.assert_frame_equal(read_again(path, None, share), frame)
    pd.testing.assert_frame_equal(read_again(path, schema_of(frame), share), frame)


GROUPED = "price;name;target\n" + "".join(f"{n % 8 + 1}.{n:03d};a;{n % 2}\n" for n in range(60))


def test_thousands_points_between_semicolons_are_not_guessed(tmp_path: Path) -> None:
    table = tmp_path / "german.csv"
    table.write_text(GROUPED, encoding="utf-8")
    with pytest.raises(DataError, match=r"1\.000 in column 'price' has") as told:
        read_table(table)
    assert "--decimal" in str(told.value.hint)
    as_points = read_table(table, options=file_options(decimal="point"))
    as_commas = read_table(table, options=file_options(decimal="comma"))
    assert as_points["price"].iloc[1] == 2.001
    assert as_commas["price"].iloc[1] == 2001


@pytest.mark.parametrize("told", ["0.5;b;0\n", "12.25;b;1\n"])
def test_one_sure_point_far_down_settles_them(tmp_path: Path, told: str) -> None:
    table = tmp_path / "points.csv"
    filler = GROUPED + "1.234;a;1\n" * 30_000
    table.write_text(filler + told, encoding="utf-8")
    assert read_table(table)["price"].iloc[1] == 2.001


def test_thousands_points_in_later_rows_alone_are_not_guessed(tmp_path: Path) -> None:
    table = tmp_path / "late.csv"
    table.write_text("n;target\n" + "1;0\n2;1\n" * 100_000 + "1.234;0\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"1\.234 in column 'n'"):
        read_table(table)
    schema = schema_of(pd.DataFrame({"n": [1.0, 2.5]}))
    with pytest.raises(DataError, match=r"1\.234 in column 'n'"):
        list(read_chunks(table, schema, (), file_options()))


def test_points_between_commas_are_decimal_points(tmp_path: Path) -> None:
    table = tmp_path / "points.csv"
    table.write_text(GROUPED.replace(";", ","), encoding="utf-8")
    assert read_table(table)["price"].iloc[1] == 2.001


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_after_decimal_commas_in_training_points_alone_are_not_guessed(
    separator: str, tmp_path: Path
) -> None:
    table = tmp_path / "later.csv"
    table.write_text(f"price{separator}b\n1.234{separator}1\n2.345{separator}2\n", encoding="utf-8")
    schema = schema_of(pd.DataFrame({"price": [1.5, 2.5], "b": [1, 2]}))
    later = replace(file_options(), had_commas=True)
    with pytest.raises(DataError, match=r"1\.234 in column 'price' has a decimal point, or"):
        list(read_chunks(table, schema, (), later))
    with pytest.raises(DataError, match=r"1\.234 in column 'price'"):
        read_table(table, schema=schema, options=later)
    told = replace(file_options(decimal="comma"), had_commas=True)
    (chunk,) = read_chunks(table, schema, (), told)
    assert list(chunk.frame["price"]) == [1234.0, 2345.0]
