"""A share of a file as it is written down, and mistakes in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from automl_admm.core.errors import DataError, StoreError
from automl_admm.data.reading.shares import (
    Share,
    read_share,
    share_of,
    share_of_pieces,
    written_out,
)
from automl_admm.data.reading.tables import read_table


def test_a_share_is_written_down_and_only_of_this_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("a,y\n1,2\n3,4\n5,6\n")
    share = share_of_pieces(16, [(0, 4), (8, 12)])
    assert share is not None
    assert str(share) == "16:0-4,8-12"
    assert read_share(str(share)) == share
    assert share_of(str(share), path) == share
    path.write_text("a,y\n1,2\n3,4\n5,67\n")
    assert share_of(str(share), path) is None
    assert share_of(None, path) is None
    with pytest.raises(StoreError, match="does not say which part"):
        read_share("12:3-x")


def test_pieces_that_touch_are_one_and_all_of_them_are_no_share() -> None:
    assert share_of_pieces(16, [(0, 4), (12, 16), (8, 12)]) == Share(16, ((0, 4), (8, 16)))
    assert share_of_pieces(16, [(0, 4), (12, 16), (4, 8), (8, 12)]) is None


def test_a_mistake_is_told_of_the_file_that_was_given(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("a,y\n1,2\n1,2,3\n")
    with (
        pytest.raises(DataError, match=r"mine.csv \(counted in the part .*line 3: 3 fields"),
        written_out(path, Share(path.stat().st_size, ((0, 14),))) as part,
    ):
        read_table(part)
