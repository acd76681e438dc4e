"""The documentation names what is there: packages, functions, links, headings."""

from __future__ import annotations

import importlib
import re
import subprocess
from pathlib import Path

import pytest

import automl_admm

ROOT = Path(__file__).parents[1]
SITE = ROOT / "site"
ARCHITECTURE = (ROOT / "docs" / "project" / "architecture.md").read_text(encoding="utf-8")
PAGES = sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("plugins/**/*.md")))
PAGES = [page for page in PAGES if ".venv" not in page.parts]
ROOMS = {
    path.stem
    for path in Path(automl_admm.__path__[0]).iterdir()
    if not path.stem.startswith("__") and (path.suffix == ".py" or (path / "__init__.py").is_file())
}
NAMES = sorted(
    {name for name in re.findall(r"`([\w.]+)`", ARCHITECTURE) if name.split(".")[0] in ROOMS}
)


def resolve(name: str) -> object:
    """Return the module, class, function or method of a dotted name below `automl_admm`."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(("automl_admm", *parts[:length])))
        except ModuleNotFoundError:
            continue
        for attribute in parts[length:]:
            found = getattr(found, attribute)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_the_architecture_is_there(name: str) -> None:
    assert resolve(name) is not None


def test_a_name_that_is_not_there_is_found_out() -> None:
    with pytest.raises(AttributeError):
        resolve("search.protocol.no_such_function")


def test_the_map_has_a_row_for_every_package() -> None:
    rows = set(re.findall(r"^\| \d+ \| `(\w+)` \|", ARCHITECTURE, re.MULTILINE))
    assert rows == ROOMS


def test_the_walks_pass_functions() -> None:
    assert len([name for name in NAMES if "." in name]) > 40


def slugs(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as they are made for Markdown on the web."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_or_heading_leads_somewhere(page: Path) -> None:
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        place, _, heading = target.partition("#")
        file = (page.parent / place).resolve() if place else page
        assert file.exists(), target
        if heading and file.suffix == ".md":
            assert heading in slugs(file), target


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("docs/**/*.md")), ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_page_stands_in_the_navigation(page: Path) -> None:
    place = page.relative_to(ROOT / "docs").as_posix()
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    assert re.search(rf"(- |: ){re.escape(place)}$", nav, re.MULTILINE), "add it to mkdocs.yml"


@pytest.mark.skipif(not SITE.exists(), reason="the pages are not built: run mkdocs build")
def test_every_link_of_a_built_page_leads_to_a_file_and_no_folder() -> None:
    """A browser that opens the pages from a folder would list the files of one."""
    missed = {
        f"{page.relative_to(SITE)}: {target}"
        for page in SITE.rglob("*.html")
        if page.name != "404.html"  # its links begin at the root of a server
        for target in re.findall(r'<a\s[^>]*?href="([^"#:]+)[^":]*"', page.read_text("utf-8"))
        if not (page.parent / target).is_file()
    }
    assert sorted(missed) == []


def test_a_study_names_commits_of_this_history_or_says_that_they_are_not() -> None:
    """A reader who looks a commit up finds it, or was told on the page that it is not there."""
    command = ["git", "-C", str(ROOT), "log", "--format=%H", "HEAD"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    hashes = said.stdout.split()
    if len(hashes) < 100:
        pytest.skip("there is no history here")
    known = {one[:7] for one in hashes}
    index = (ROOT / "docs" / "benchmarks" / "index.md").read_text(encoding="utf-8")
    for page in sorted(ROOT.glob("docs/benchmarks/*.md")):
        text = page.read_text(encoding="utf-8")
        strange = set(re.findall(r"commits?[ :]+([0-9a-f]{7})\b", text)) - known
        assert all(one in index for one in strange), (page.name, strange)
        assert not strange or page.name == "index.md" or "index.md#commits" in text, page.name
