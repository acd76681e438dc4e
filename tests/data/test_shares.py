"""A share of a file: rows from all over it, whole ones, and the same whenever it is read again."""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd
import pytest

from automl_admm.core.errors import DataError, StoreError
from automl_admm.data.shares import Share, read_share, share_in_time, share_of, written_out
from automl_admm.data.tables import read_table

ROWS = 60_000
LINES = 'he said "so", then\nleft'


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sorted by class; texts with newlines, commas and quotes."""
    frame = pd.DataFrame({"row": range(ROWS), "text": [LINES, "a,b", '"'] * (ROWS // 3)})
    frame["filler"] = "x" * 60
    frame["y"] = ["no"] * (ROWS // 2) + ["yes"] * (ROWS // 2)
    path = tmp_path_factory.mktemp("large") / "large.csv"
    frame.to_csv(path, index=False)
    return path


def slowly(path: Path) -> None:
    """Read a megabyte in a tenth of a second."""
    time.sleep(0.1 * path.stat().st_size / 2**20)


def test_rows_of_a_share_are_whole_and_from_all_over_the_file(large: Path) -> None:
    share = share_in_time(large, 0.3, slowly)
    assert share is not None
    assert 0.05 < share.part < 0.5
    with written_out(large, share) as path:
        frame = read_table(path)
    assert list(frame.columns) == ["row", "text", "filler", "y"]
    assert frame["row"].is_monotonic_increasing
    assert frame["row"].is_unique
    assert set(frame["text"]) == {LINES, "a,b", '"'}
    assert 0.3 < (frame["y"] == "yes").mean() < 0.7
    # Of the whole file these rows hold what they hold here.
    whole = read_table(large).set_index("row")
    assert (whole.loc[frame["row"], "text"].to_numpy() == frame["text"].to_numpy()).all()


def test_what_can_be_read_in_time_is_read_whole(large: Path, tmp_path: Path) -> None:
    assert share_in_time(large, 60.0, slowly) is None
    small = tmp_path / "small.csv"
    small.write_text("a,y\n1,2\n")
    assert share_in_time(small, 1e-9, slowly) is None


def test_however_short_the_time_there_are_rows(large: Path) -> None:
    share = share_in_time(large, 1e-9, slowly)
    assert share is not None
    with written_out(large, share) as path:
        assert len(read_table(path)) > 0


def test_a_share_is_written_down_and_only_of_this_file(large: Path, tmp_path: Path) -> None:
    share = share_in_time(large, 0.3, slowly)
    assert share is not None
    assert read_share(str(share)) == share
    assert share_of(str(share), large) == share
    other = tmp_path / "other.csv"
    other.write_bytes(large.read_bytes()[:-1])
    assert share_of(str(share), other) is None
    assert share_of(None, large) is None
    with pytest.raises(StoreError, match="does not say which part"):
        read_share("12:3-x")


def test_a_mistake_is_told_of_the_file_that_was_given(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("a,y\n1,2\n1,2,3\n")
    with (
        pytest.raises(DataError, match=r"mine.csv \(counted in the part .*line 3: 3 fields"),
        written_out(path, Share(path.stat().st_size, ((0, 14),))) as part,
    ):
        read_table(part)
