"""The numbers of the pages are those that were measured."""

from __future__ import annotations

import re

import pytest
from measured_tables import PARTS, blocks, measured, peers_short, share
from write_tables import PAGES, filled, marks, read


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_numbers_of_the_data(page: str) -> None:
    assert filled(read(page)) == read(page), "run python benchmarks/write_tables.py"


def test_every_part_stands_on_a_page_and_every_mark_has_its_end() -> None:
    assert {name for _, name in marks()} == set(PARTS)
    for page in PAGES:
        begun = re.findall(r"^ *<!-- data: ", read(page), re.MULTILINE)
        assert len(begun) == sum(one == page for one, _ in marks())


def test_a_number_typed_by_hand_is_found_out() -> None:
    page = read("README.md")
    assert filled(page.replace("mean\n  rank 1.", "mean\n  rank 0.")) == page
    assert page.count("mean\n  rank ") == 1


def test_numbers_follow_the_runs() -> None:
    assert len(blocks()) == 25
    assert re.search(r"mean rank 1\.\d\d, FLAML 2\.\d\d", peers_short())
    assert share(0, 74) == "0/74 = 0.0 (0.0 to 4.9)"


def test_totals_agree_with_their_rows() -> None:
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
