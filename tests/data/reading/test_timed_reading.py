"""Reading in a time that is given: whole rows from all over the file, and the same ones again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.reading import timed_reading
from automl_admm.data.reading.pieces import cut, evenly
from automl_admm.data.reading.shares import share_of_pieces
from automl_admm.data.reading.tables import read_table
from automl_admm.data.reading.timed_reading import read_again, read_in_time, read_pieces

ROWS = 30_000
LINES = 'he said "so", then\nleft'


def late_after(looks: int) -> Callable[[], bool]:
    """A clock that says the time is up when it is looked at for the n-th time."""
    seen = iter(range(looks))
    return lambda: next(seen, None) is None


def never() -> bool:
    return False


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sorted by class; texts with newlines, commas and quotes; codes in a few rows of its end."""
    frame = pd.DataFrame({"row": range(ROWS), "text": [LINES, "a,b", '"'] * (ROWS // 3)})
    frame["filler"] = "x" * 60
    frame["whole"] = [7 if row % 5 else None for row in range(ROWS)]
    frame["code"] = [str(row) for row in range(ROWS - 3)] + ["007", "008", "009"]
    frame["late"] = ["1.5"] * (ROWS - 1) + ["n.d."]
    frame["y"] = ["no"] * (ROWS // 2) + ["yes"] * (ROWS // 2)
    path = tmp_path_factory.mktemp("large") / "large.csv"
    frame.to_csv(path, index=False)
    return path


def test_all_pieces_together_are_the_table_as_it_is_read_whole(large: Path) -> None:
    header, *rest = cut(large, never)
    assert len(rest) > 100
    frame, taken, _ = read_pieces(large, header, evenly(tuple(rest)), never)
    assert share_of_pieces(large.stat().st_size, (header, *taken)) is None
    pd.testing.assert_frame_equal(frame, read_table(large, keep_codes=True))
    assert frame["code"].iloc[-1] == "009"
    assert frame["late"].iloc[-1] == "n.d."


@pytest.mark.parametrize("looks", [0, 20])
def test_where_the_time_ends_whole_rows_from_all_over_the_file_are_there(
    large: Path, looks: int
) -> None:
    header, *rest = cut(large, never)
    frame, taken, _ = read_pieces(large, header, evenly(tuple(rest)), late_after(looks))
    assert 16 <= len(taken) <= 16 + looks
    assert frame["row"].is_monotonic_increasing
    assert frame["row"].is_unique
    assert set(frame["text"]) == {LINES, "a,b", '"'}
    assert 0.4 < (frame["y"] == "yes").mean() < 0.6
    share = share_of_pieces(large.stat().st_size, (header, *taken))
    assert share is not None
    pd.testing.assert_frame_equal(read_again(large, None, share), frame)
    whole = read_table(large).set_index("row")
    assert (whole.loc[frame["row"], "text"].to_numpy() == frame["text"].to_numpy()).all()


def test_a_file_too_large_to_be_cut_in_time_is_read_from_its_beginning(large: Path) -> None:
    header, *rest = cut(large, late_after(30))
    assert len(rest) == 16 + 30
    _, taken, _ = read_pieces(large, header, evenly(tuple(rest)), never)
    share = share_of_pieces(large.stat().st_size, (header, *taken))
    assert share is not None
    assert share.reach == share.part < 0.5


def test_without_any_time_there_are_rows_and_with_much_all_of_them(large: Path) -> None:
    frame, share = read_in_time(large, 0.0)
    assert share is not None
    assert 0 < len(frame) < ROWS
    frame, share = read_in_time(large, 1e6)
    assert share is None
    assert len(frame) == ROWS


@pytest.fixture
def no_file_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed_reading, "SHORT_BYTES", 0)


@pytest.mark.usefixtures("no_file_is_short")
@pytest.mark.parametrize(
    "text",
    [
        'a,y\n5" pipe,2\n"x\n,y",4\n6" pipe,2\n' * 3000,
        "a,y\r\n1,2\r\n\r\n3,4" + "\r\n1,2" * 9000,
        "\ufeff\n\na,y\n" + "1,2\n" * 9000,
        'a,y\n"1","01"\n' + "1,2\n" * 9000,
        "a,y\n" + "0x1,2\n" * 9000 + " 012,2\n",
        "a,y\r" + "1,2\r" * 9000,
        "a,y\n" + "1,2\n" * 9000 + "012 ,2\n",
    ],
    ids=[
        *("inches", "windows", "blank head", "quoted code", "code at the end", "old mac"),
        "code and blank",
    ],
)
def test_odd_files_are_read_as_without_a_budget(text: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(text, newline="")
    frame, share = read_in_time(path, 1e6)
    assert share is None
    pd.testing.assert_frame_equal(frame, read_table(path, keep_codes=True))


@pytest.mark.usefixtures("no_file_is_short")
def test_columns_of_one_name_are_read_as_without_a_budget(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("# made by hand\na;a;a.1;b\n" + "1,5;2;007;4\n" * 9000)
    frame, _ = read_in_time(path, 1e6)
    assert list(frame) == ["a", "a.2", "a.1", "b"]
    assert frame.iloc[-1].tolist() == [1.5, 2, "007", 4]
    pd.testing.assert_frame_equal(frame, read_table(path, keep_codes=True))


@pytest.mark.usefixtures("no_file_is_short")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,y\n" + "1,2\n" * 9000 + "1,2,3\n", "line 9002: 3 fields, but the header has 2"),
        ("a,y\n" + "1,2\n" * 9000 + '1,"2\n', "line 9002: unexpected end of data"),
        ("a,y\n" + "1;2\n" * 9000, "header is parted by commas, and its rows by semicolons"),
        ("a,y\n", "holds a header and no rows"),
    ],
)
def test_mistakes_are_told_as_without_a_budget(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_in_time(path, 1e6)
