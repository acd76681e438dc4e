"""What a page of a study says in short stands on it, beside the command of a script."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from study_pages import HEAD, ORDER, PAGES, SHORT, listed, outcome, text_of

ROOT = Path(__file__).parents[1]
COMMAND = re.compile(r"^    .*?python (?:-m )?(benchmarks[\w./]+)", re.MULTILINE)


def numbers(text: str) -> set[str]:
    """All numbers, as they are written; those of a command are none."""
    prose = re.sub(r"`[^`\n]*`", "", text.replace("```", ""))
    return set(re.findall(r"\d+(?:\.\d+)?", prose))


def script_of(named: str) -> Path:
    """The file or the folder that a command runs."""
    return ROOT / (named if named.endswith(".py") else named.replace(".", "/"))


def exists(named: str) -> bool:
    found = script_of(named)
    return (
        found.is_file() or (found / "__main__.py").is_file() or found.with_suffix(".py").is_file()
    )


def is_made(study: str) -> bool:
    """Say if a script makes the paragraph from the same data as the tables."""
    return f"<!-- data: {study}-short -->" in text_of(study)


def test_every_page_of_a_study_is_in_the_list_and_the_other_way_round() -> None:
    files = {page.stem for page in PAGES.glob("*.md")} - {"index"}
    assert files == set(ORDER)
    assert len(ORDER) == len(files)
    for study in ORDER:
        assert f"]({study}.md): *" in listed()


@pytest.mark.parametrize("study", ORDER)
def test_a_page_has_its_question_its_command_and_its_length(study: str) -> None:
    text = text_of(study)
    assert HEAD.match(text)
    assert len(SHORT.findall(text)) == 1
    assert len(text.splitlines()) < 400
    commands = COMMAND.findall(text)
    assert commands
    assert [named for named in commands if not exists(named)] == []


@pytest.mark.parametrize("study", [study for study in ORDER if not is_made(study)])
def test_every_number_in_short_is_on_the_page(study: str) -> None:
    text = text_of(study)
    short = outcome(text)
    assert numbers(short)
    assert numbers(short) <= numbers(SHORT.sub("", text))


def test_a_number_that_was_not_measured_is_found_out() -> None:
    text = text_of("racing").replace("makes 56 and", "makes 57 and")
    assert not numbers(outcome(text)) <= numbers(SHORT.sub("", text))
