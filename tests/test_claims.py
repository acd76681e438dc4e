"""What the page on benchmarks claims stands in RESULTS.md, beside its command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "benchmarks" / "index.md").read_text(encoding="utf-8")
RESULTS = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def paragraphs() -> dict[str, str]:
    """The claims by their bold titles."""
    found = re.split(r"^\*\*(.+?)\*\*", PAGE, flags=re.MULTILINE)[1:]
    return dict(zip(found[::2], found[1::2], strict=True))


def scripts(text: str) -> set[str]:
    return set(re.findall(r"\b(\w+\.py|benchmarks\.\w+)\b", text))


def command_of(script: str) -> str:
    return f"python benchmarks/{script}" if script.endswith(".py") else f"python -m {script}"


def evidence(claim: str) -> str:
    """The sections of RESULTS.md with the commands of the scripts that a claim names."""
    sections = re.split(r"^(?=###? )", RESULTS, flags=re.MULTILINE)
    named = scripts(claim)
    return "".join(
        section
        for section in sections
        if named & scripts("".join(re.findall(r"^    python .*$", section, re.MULTILINE)))
    )


def numbers(text: str) -> set[str]:
    """All numbers, as they are written; those of a command are none."""
    prose = re.sub(r"`[^`\n]*`", "", text.replace("```", ""))
    return set(re.findall(r"\d+(?:\.\d+)?", prose))


def label(row: str) -> str:
    """The name at the beginning of a row of a table."""
    return re.split(r"\s{2,}", row.strip())[0]


CLAIMS = paragraphs()
ROWS = [
    pytest.param(claim, row, id=f"{title}: {label(row)}")
    for title, claim in CLAIMS.items()
    for block in FENCE.findall(claim)
    for row in block.splitlines()
    if not row.startswith(" ") and numbers(row)
]


def test_there_are_claims_and_tables() -> None:
    assert len(CLAIMS) >= 8
    assert len(ROWS) >= 20


@pytest.mark.parametrize("title", CLAIMS)
def test_every_claim_names_scripts_that_are_there_and_in_the_results(title: str) -> None:
    named = scripts(CLAIMS[title])
    assert named
    for script in named:
        file = f"benchmarks/{script}" if script.endswith(".py") else script.replace(".", "/")
        assert (ROOT / file).exists()
        assert command_of(script) in RESULTS


@pytest.mark.parametrize("title", CLAIMS)
def test_every_number_of_a_claim_is_in_the_results(title: str) -> None:
    prose = FENCE.sub("", CLAIMS[title])
    assert numbers(prose) <= numbers(evidence(CLAIMS[title]))


@pytest.mark.parametrize(("claim", "row"), ROWS)
def test_every_row_of_a_table_is_of_the_row_of_that_name_in_the_results(
    claim: str, row: str
) -> None:
    blocks = "\n".join(FENCE.findall(evidence(claim)))
    same = [line for line in blocks.splitlines() if line.startswith(label(row))]
    assert numbers(row) <= numbers("\n".join(same))


@pytest.mark.parametrize("command", re.findall(r"`benchmarks/(\w+\.py [^`]+)`", PAGE))
def test_every_command_of_the_page_is_one_of_the_results(command: str) -> None:
    options = {option for option in command.split() if option.startswith("--")}
    script = command.split(maxsplit=1)[0]
    lines = re.findall(rf"^    python benchmarks/{script}.*$", RESULTS, re.MULTILINE)
    assert any(options <= set(line.split()) for line in lines)
