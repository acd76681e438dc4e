"""Write the tables and pictures of the pages from the measured numbers.

    python benchmarks/write_tables.py

A page has `<!-- data: NAME -->`, the text, and `<!-- /data -->`. The text is a table of a file in
measured/, such as `racing/racing`, or a part of `measured_tables`. Tests hold pages, pictures and
numbers equal: change the numbers, and run this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from measured_pictures import PICTURES
from measured_tables import PARTS
from printed_tables import printed
from study_pages import ORDER

ROOT = Path(__file__).parents[1]
# The list of studies comes last: it says what their pages say.
PAGES = (
    "README.md",
    *(f"docs/benchmarks/{study}.md" for study in ORDER),
    "docs/benchmarks/index.md",
)
DRAWN = ROOT / "docs" / "pictures" / "measured"
MARK = re.compile(
    r"(?P<begin>^ *<!-- data: (?P<name>[\w/.-]+) -->\n)(?P<text>.*?)(?P<end>^ *<!-- /data -->$)",
    re.DOTALL | re.MULTILINE,
)


def read(page: str) -> str:
    """Return the text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def filled(text: str) -> str:
    """Return a page with all of its parts made anew."""
    return MARK.sub(lambda found: f"{found['begin']}{made(found['name'])}\n{found['end']}", text)


def made(name: str) -> str:
    """Return a part, with an empty line on either side unless it is an item of a list."""
    part = printed(name) if "/" in name else PARTS[name]()
    return part if part.startswith("- ") else f"\n{part}\n"


def marks() -> Iterator[tuple[str, str]]:
    """Yield the pages and the names of their parts."""
    for page in PAGES:
        for found in MARK.finditer(read(page)):
            yield page, found["name"]


def main() -> None:
    """Fill all pages and draw all pictures."""
    for page in PAGES:
        (ROOT / page).write_text(filled(read(page)), encoding="utf-8")
    for name, draw in PICTURES.items():
        (DRAWN / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
