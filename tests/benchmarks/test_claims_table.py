"""The table of claims keeps in step with README, the explanations and the pages of studies."""

from __future__ import annotations

import re
from pathlib import Path

import claims
import pytest
from claims import CLAIMS, EXPLAINED, MISSING, README, Claim
from study_pages import text_of

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"benchmarks/(\w+)\.md")
BULLET = re.compile(r"^- (.+?)(?=^- |^\S|\Z)", re.MULTILINE | re.DOTALL)


def plain(text: str) -> str:
    """Return a text without its marks, on one line."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(re.sub(r"[*`]|<!--.*?-->", "", text).split())


def text(where: str) -> str:
    return (ROOT / where).read_text(encoding="utf-8")


def joined(text: str) -> str:
    """Return a page with its commands on one line each."""
    return " ".join(text.replace("\\\n", " ").split())


def is_there(claim: Claim) -> bool:
    return claim.words in plain(text(claim.where))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.words)
def test_a_claim_stands_in_its_file_and_its_evidence_on_the_page(claim: Claim) -> None:
    assert is_there(claim)
    assert claim.study or claim.tests
    assert [path for path in claim.tests if not (ROOT / path).exists()] == []
    if claim.study:
        page = joined(text_of(claim.study))
        assert claim.command in page
        assert (claim.commit == MISSING) == bool(claim.came)
        assert f"commit {claim.came}" in page if claim.came else claim.commit in page
        assert claim.control != MISSING


def points() -> list[str]:
    """Return the points of the README that say why."""
    part = text(README).split("## Why this one")[1].split("\n## ")[0]
    return [plain(found) for found in BULLET.findall(part)]


@pytest.mark.parametrize("point", points(), ids=lambda point: point[:30])
def test_each_point_of_the_readme_has_a_claim(point: str) -> None:
    assert any(claim.where == README and claim.words in point for claim in CLAIMS)


def test_each_link_to_a_study_has_a_claim() -> None:
    files = [README, *sorted(str(p.relative_to(ROOT)) for p in (ROOT / EXPLAINED).glob("*.md"))]
    linked = {(where, study) for where in files for study in LINK.findall(text(where))}
    known = {(claim.where, claim.study) for claim in CLAIMS}
    assert {pair for pair in linked - known if pair[1] != "index"} == set()
    assert len(points()) == 6
    assert len(linked) > 8


def test_a_claim_that_was_reworded_is_found_out() -> None:
    assert not is_there(Claim(README, "The budget always holds", tests=("tests",)))
    assert "| *The budget holds* |" in claims.table()
