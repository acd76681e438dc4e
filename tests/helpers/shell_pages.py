"""The shell blocks of README.md and docs/, and which of their commands tests run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
BLOCK = re.compile(r"(?:^<!-- ([^\n]+) -->\n)?^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NOT_RUN = "not run: "
# `.ci/run` runs these blocks of README.md, and tests/test_models_out_page.py the script.
RUN_ELSEWHERE = {"run", "test", "run: script"}
# `.ci/tutorial.py` runs their commands in full, with their own budgets.
TUTORIALS = sorted(ROOT.glob("docs/tutorial*.md"))


def blocks(page: Path) -> list[tuple[str, str]]:
    """List the marks and the texts of the shell blocks of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def lines(page: Path) -> Iterator[str]:
    """Yield the commands of a page that are to be run, each on one line."""
    for mark, text in blocks(page):
        if mark in RUN_ELSEWHERE or mark.startswith(NOT_RUN):
            continue
        yield from (line for line in text.replace("\\\n", " ").splitlines() if line.strip())


RUN = [page for page in PAGES if page not in TUTORIALS and any(lines(page))]


def limits_in(line: str) -> list[str]:
    """Return the limits of a command, in their order."""
    words = shlex.split(line, comments=True)
    return [limit for option, limit in pairwise(words) if option == "--constraint"]
