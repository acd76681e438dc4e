"""The numbers of the pages are those that were measured."""

from __future__ import annotations

import json
import re

import faults
import pytest
from measured_pictures import PICTURES
from measured_tables import PARTS, measured, share
from printed_tables import all_names, markdown_table, printed, shown, table
from write_tables import DRAWN, PAGES, filled, marks, read


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_numbers_of_the_data(page: str) -> None:
    assert filled(read(page)) == read(page), "run python benchmarks/write_tables.py"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_has_the_numbers_of_the_data(name: str) -> None:
    drawn = (DRAWN / f"{name}.svg").read_text(encoding="utf-8")
    assert PICTURES[name]() == drawn, "run python benchmarks/write_tables.py"


def test_every_picture_stands_on_a_page() -> None:
    shown = {name for page in PAGES for name in re.findall(r"measured/(\w+)\.svg\)", read(page))}
    assert shown == set(PICTURES)
    assert {path.stem for path in DRAWN.iterdir()} == set(PICTURES)


def test_every_part_stands_on_a_page_and_every_mark_has_its_end() -> None:
    assert {name for _, name in marks()} == set(PARTS) | all_names()
    for page in PAGES:
        begun = re.findall(r"^ *<!-- data: ", read(page), re.MULTILINE)
        assert len(begun) == sum(one == page for one, _ in marks())


def test_a_number_typed_by_hand_is_found_out() -> None:
    page = read("README.md")
    changed = re.sub(r"mean\s+rank \d", "mean rank 0", page)
    assert changed != page
    assert filled(changed) == page
    racing = read("docs/benchmarks/racing.md")
    assert filled(racing.replace("| 0.0035 |", "| 0.0000 |")) == racing


def test_a_number_keeps_the_digits_that_were_printed() -> None:
    assert str(table("boosters/boosters")["rows"][2][5]) == "100"
    assert "| 0.7500 |" in printed("boosters/boosters")
    assert markdown_table(["a|b", "n"], [["x\\|y", "-1.50"]]).splitlines()[1] == "| --- | ---: |"


def test_what_was_printed_is_no_markup() -> None:
    assert shown("a|b <b>12*, 3*") == "a\\|b &lt;b>12\\*, 3\\*"
    assert shown(None) == ""


def test_faults_are_written_as_their_page_reads_them() -> None:
    row = faults.Row("F01", "a | b", "c", f"{faults.tempfile.gettempdir()}/run", "ok")
    found = json.loads(faults.as_json([row, row]))["tables"]["faults"]
    assert found["rows"] == [["F01", "a | b", "c", "…", "ok"]] * 2
    assert found["columns"] == table("faults/faults")["columns"]


def test_totals_agree_with_their_rows() -> None:
    assert share(0, 74) == "0/74 = 0.0 (0.0 to 4.9)"
    *rows, whole = measured("certificates")["rows"]
    for key in ("runs", "certified", "broken", "best_broken"):
        assert sum(one[key] for one in rows) == whole[key]
    found = measured("limits")
    for method in found["methods"]:
        won = sum(one["methods"][method]["seeds_won"] for one in found["settings"])
        assert won == pytest.approx(found["seeds_won"][method], abs=0.5)
        assert len(found["settings"]) == sum(next(one for one in found["pairs"])["settings"])
    for one in measured("evaluation_rate")["rows"]:
        assert one["before"] / one["now"] == pytest.approx(one["gain"], abs=0.06)
