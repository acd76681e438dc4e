"""`automl-admm docs`: pages, sections of diagnostics, and names that are not there."""

from __future__ import annotations

import io
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from automl_admm.cli.shared import pages

ROOT = Path(__file__).parents[2]
MADE = re.compile(r"^<!-- made: [\w-]+ -->\n(.*?)<!-- end -->", re.DOTALL | re.MULTILINE)


def test_the_list_has_every_page_with_its_title(run: Any) -> None:
    done = run("docs")
    assert done.code == 0
    for name, page in pages.list_pages().items():
        assert name in done.out
        assert pages.title(page)[:20] in done.out


def test_no_two_pages_have_one_name() -> None:
    folder = pages.pages_folder()
    there = [page for chapter in pages.CHAPTERS for page in (folder / chapter).glob("*.md")]
    beside = list(folder.glob("tutorial*.md"))
    assert len(beside) >= 3
    assert len(pages.list_pages()) == len(there) + len(beside)


@pytest.mark.parametrize("name", ["limits", "exit_codes", "benchmarks"])
def test_a_page_is_written_as_it_stands_but_for_comments(run: Any, name: str) -> None:
    done = run("docs", name)
    assert done.code == 0
    assert done.out.startswith("# ")
    assert "<!--" not in done.out


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("tutorial.md", "tutorial"),
        ("docs/tutorial.md", "tutorial"),
        ("reference/grammar", "grammar"),
        ("./docs/reference/grammar.md", "grammar"),
        ("../reference/grammar.md#the-language-on-one-page", "grammar"),
        ("limits.md", "limits"),
        ("docs/benchmarks/index.md", "benchmarks"),
    ],
)
def test_a_page_may_be_named_by_its_path(run: Any, path: str, name: str) -> None:
    done = run("docs", path)
    assert done.code == 0, done.err
    assert done.out == run("docs", name).out


@pytest.mark.parametrize("code", ["G007", "g007"])
def test_a_diagnostic_is_explained_alone(run: Any, code: str) -> None:
    done = run("docs", code)
    assert done.code == 0
    assert done.out.startswith("### G007\n")
    assert "Bad:" in done.out
    assert "G008" not in done.out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("limit", "Did you mean 'limits'"),
        ("docs/how_to/limit.md", "Did you mean"),
        ("docs/", "no page named"),
        ("G999", "no diagnostic named 'G999'"),
    ],
)
def test_a_page_that_is_not_there_is_one_line(run: Any, name: str, said: str) -> None:
    done = run("docs", name)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_shown_no_marks_of_markdown(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    assert run("docs", "exit_codes").code == 0
    assert "Exit codes" in terminal.getvalue()
    assert "# Exit codes" not in terminal.getvalue()
    assert "| ---" not in terminal.getvalue()


@pytest.fixture
def shown(run: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Show a page on a terminal with colours."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def call(name: str) -> str:
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", terminal := Terminal())
            assert run("docs", name).code == 0
        return terminal.getvalue()

    return call


def test_a_terminal_is_told_what_to_call_in_place_of_links_to_files(
    shown: Callable[[str], str],
) -> None:
    text = shown("limits")
    targets = re.findall(r"\x1b\]8;[^;]*;([^\x1b]+)", text)
    assert all(target.startswith("https://") for target in targets), targets
    plain = re.sub(r"\x1b\[[\d;]*m", "", text)
    assert "better by more than its noise (docs weights_groups_time)" in plain
    assert "(docs compare)" in plain


def test_a_link_leads_to_the_page_beside_its_own() -> None:
    """Two chapters have a page on certificates."""
    text = "[they](certificates.md#a), [it](#b), `[code](limits.md)`"
    for page, name in (("limits", "certificates"), ("benchmarks", "benchmarks/certificates")):
        told = pages.for_terminal(text, pages.find_page(page))
        assert told == f"they (`docs {name}`), it, `[code](limits.md)`"


@pytest.mark.parametrize("name", ["limits", "python"])
def test_code_has_no_colour_of_its_own_on_a_terminal(
    shown: Callable[[str], str], name: str
) -> None:
    styles = set(re.findall(r"\x1b\[([\d;]+)m", shown(name)))
    assert styles, "the terminal has colours"
    backgrounds = {str(number) for number in (*range(40, 49), *range(100, 108))}
    assert not [style for style in styles if backgrounds & set(style.split(";"))]


def test_what_only_a_browser_shows_is_told_with_what_to_call(run: Any) -> None:
    calls = []
    for name, page in pages.list_pages().items():
        for part in MADE.findall(page.read_text(encoding="utf-8")):
            assert part.strip() in run("docs", name).out
            assert re.search(r"In (the terminal|Python) call `", part), name
            calls += re.findall(r"`automl-admm ([a-z -]+)`", part)
    assert {"--help", "constraints", "components"} <= set(calls)
    assert all(run(*call.split()).code == 0 for call in calls)


def test_without_built_pages_a_line_says_how_to_build_them(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("automl_admm.cli.commands.docs.built_pages", lambda: tmp_path / "no.html")
    done = run("docs", "--browser")
    assert done.code == 2
    assert "nox -s docs" in done.err


def test_the_wheel_has_the_pages_that_are_listed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for page in pages.list_pages().values():
        place = page.relative_to(ROOT).as_posix()
        assert any(place == one or place.startswith(f"{one}/") for one in included), place
        assert all(there.endswith(here) for here, there in included.items())
