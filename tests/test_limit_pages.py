"""Every limit that ships is shown on a page, in a command that the tests of pages run."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from automl_admm.constraints.parse import read_text
from automl_admm.plugins.loading import load_plugins

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(?:^<!-- ([^\n]+) -->\n)?^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OURS = "automl-admm "
CONSTRAINTS = load_plugins(quietly=True).constraints
SHIPPED = [
    record.name for record in CONSTRAINTS if CONSTRAINTS.provider(record.name).startswith(OURS)
]


def shown() -> set[str]:
    """Return what the limits of all commands that are run are on, as it is written there."""
    found = set()
    for page in (ROOT / "docs").rglob("*.md"):
        for mark, text in BLOCK.findall(page.read_text(encoding="utf-8")):
            if mark.startswith("not run: "):
                continue
            for line in text.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                found |= {
                    read_text(limit).measure
                    for option, limit in pairwise(words)
                    if option == "--constraint"
                }
    return found


SHOWN = shown()


def test_the_limits_are_many() -> None:
    assert len(SHIPPED) > 30


@pytest.mark.parametrize("name", SHIPPED)
def test_a_limit_has_an_example_that_is_run(name: str) -> None:
    number = r"_\d+(\.\d+)?" if CONSTRAINTS.get(name).numbered is not None else ""
    assert any(re.fullmatch(name + number, one) for one in SHOWN), f"no page shows '{name}'"
