"""Looks in a run folder: on other machines, in copies used apart, and in files that were edited."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from automl_admm.certify.walk.carried_looks import CarriedLooks
from automl_admm.certify.walk.looks import expect_look, find_look, take_look
from automl_admm.core.errors import StoreError


def take(machine: Path, folder: Path, question: str, least: int = 0) -> int:
    """The number of a look on a machine, by a run in a folder."""
    carried = CarriedLooks(folder / "looks.json", least)
    expected = expect_look(machine / "looks.json", "rows", "", carried=carried)
    taken = take_look(machine / "looks.json", "rows", question, 0.05, carried=carried)
    assert taken.number <= expected
    return taken.number


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path / "here"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "there"


@pytest.fixture
def folder(tmp_path: Path, here: Path) -> Path:
    """The folder of a run that looked once, on a machine that had looked before."""
    place = tmp_path / "run"
    place.mkdir()
    take_look(here / "looks.json", "rows", "before", 0.05)
    assert take(here, place, "first") == 2
    return place


def copied(folder: Path, name: str) -> Path:
    return Path(shutil.copytree(folder, folder.with_name(name)))


def test_a_folder_goes_away_and_comes_back(folder: Path, here: Path, there: Path) -> None:
    away = copied(folder, "away")
    assert take(there, away, "second") == 3
    assert take(there, away, "first") == 2
    # Of this look the first machine hears only by the folder.
    assert take(here, folder, "third") == 3
    assert take(here, away, "fourth") == 5
    assert take(here, away, "second") == 3


def test_copies_used_apart_are_counted_once_they_meet(
    folder: Path, there: Path, tmp_path: Path
) -> None:
    one, two = copied(folder, "one"), copied(folder, "two")
    assert take(there, one, "of one") == 3
    assert take(tmp_path / "elsewhere", two, "of two") == 3
    third = tmp_path / "third"
    assert take(third, one, "more of one") == 4
    # before, first, of one, of two, more of one: five, and this one.
    assert take(third, two, "more of two") == 6
    assert take(third, one, "last") == 7


def test_the_larger_number_of_a_look_counts(folder: Path, there: Path) -> None:
    for earlier in ("a", "b", "c"):
        take_look(there / "looks.json", "rows", earlier, 0.05)
    take_look(there / "looks.json", "rows", "first", 0.05)
    assert take(there, folder, "first") == 4
    carried = CarriedLooks(folder / "looks.json")
    assert find_look(folder / "none.json", "rows", "first", carried=carried) == 4


def test_looks_at_other_rows_stay_in_the_folder(folder: Path, there: Path) -> None:
    carried = CarriedLooks(folder / "looks.json")
    assert take_look(there / "looks.json", "others", "a", 0.05, carried=carried).number == 1
    assert {rows: len(taken) for rows, taken in carried.read().items()} == {"rows": 2, "others": 1}


def test_a_folder_whose_looks_are_gone_counts_its_certificate(there: Path, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    assert take(there, tmp_path / "old", "another", least=2) == 3
    assert take(there, tmp_path / "old", "one more") == 4


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"number": 2', '"number": 1'),
        ('"number": 2', '"number": true'),
        ('"question": "first"', '"question": "other"'),
        ('"content_sha256"', '"no_sha256"'),
        ('"schema": 1', '"schema": 2'),
        ("}", ""),
    ],
)
def test_a_damaged_file_is_refused_and_nothing_is_written(
    folder: Path, there: Path, before: str, after: str
) -> None:
    path = folder / "looks.json"
    content = path.read_text()
    assert before in content
    path.write_text(content.replace(before, after))
    edited = path.read_bytes()
    with pytest.raises(StoreError, match=r"looks\.json' (is damaged|cannot be read)") as told:
        take_look(there / "looks.json", "rows", "x", 0.05, carried=CarriedLooks(path))
    assert "Restore it" in str(told.value.hint)
    assert path.read_bytes() == edited
    assert not (there / "looks.json").exists()
