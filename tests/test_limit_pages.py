"""Every limit that `automl-admm constraints` lists is told on a page with a run example.

That each limit of such an example gets a value, and so shows something, is tested where the
examples run, in tests/test_shell_snippets.py.
"""

from __future__ import annotations

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from shell_pages import ROOT, RUN, limits_in, lines

from automl_admm.cli.main import main
from automl_admm.constraints.parse import read_text

FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
OURS = "automl-admm "
PAGES = [page for page in RUN if page.parent == ROOT / "docs" / "how_to"]
EXAMPLES = {page: [one for line in lines(page) for one in limits_in(line)] for page in PAGES}
# Comparisons, classes and other ways to write a limit, which are made of the names of the list.
FORMS = {
    "X_gap[column]": r"\w+_gap\[",
    "X_ratio[column]": r"(?!demographic)\w+_ratio\[",
    "min_X[column]": r"min_\w+\[",
    "max_X[column]": r"max_\w+\[",
    "X{class=…}": r"\w+{class=",
    "min_X{class}": r"min_\w+{class}",
    "max_X{class}": r"max_\w+{class}",
    "macro_X": r"macro_\w+ ",
    "a scorer of scikit-learn": r"(balanced_accuracy|neg_log_loss) ",
    "two columns": r"\w+\[\w+,\w",
    "cut points": r"\w+\[\w+:\d",
    "equally many rows": r"\w+\[\w+:q\d",
    "a least size": r"\w+\[.*least=\d",
    "a percentage": r".*%",
    "a share of the baseline": r".*\* baseline",
    "a confidence of its own": r".* @ ",
}


def listed() -> list[dict[str, str]]:
    """Return the limits that the command lists, but for those of plugins."""
    out = StringIO()
    with redirect_stdout(out), pytest.raises(SystemExit):
        main(["constraints", "--json"])
    return [one for one in json.loads(out.getvalue()) if one["provider"].startswith(OURS)]


LISTED = {one["name"]: one for one in listed()}


def written(name: str) -> str:
    """Return a pattern of a limit's name with a number in it, if it has one."""
    numbered = LISTED[name]["written"].startswith(f"{name}_N")
    return name + (r"_(N|\d+(\.\d+)?)" if numbered else "")


def tells_of(page: Path, name: str) -> bool:
    """Return True if the text of the page, beside its examples, names the limit."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return re.search(rf"`{written(name)}(?![\w])[^`]*`", text) is not None


def test_the_limits_are_many_and_of_every_kind() -> None:
    kinds = [one["measured_as"] for one in LISTED.values()]
    assert min(map(kinds.count, ("statistical", "checked", "measured"))) > 3
    assert len(kinds) > 40


@pytest.mark.parametrize("name", LISTED)
def test_a_limit_is_told_on_a_page_with_an_example_that_is_run(name: str) -> None:
    told = [page for page in PAGES if tells_of(page, name)]
    assert told, f"no page of docs/how_to tells of '{name}'"
    measures = [read_text(limit).measure for page in told for limit in EXAMPLES[page]]
    pattern = re.compile(written(name))
    pages = [page.name for page in told]
    assert any(map(pattern.fullmatch, measures)), f"no command on {pages} has a limit on '{name}'"


@pytest.mark.parametrize("form", FORMS)
def test_a_way_to_write_a_limit_has_an_example_that_is_run(form: str) -> None:
    shown = [limit for limits in EXAMPLES.values() for limit in limits]
    assert any(re.match(FORMS[form], limit) for limit in shown), f"no page shows {form}"


def test_a_limit_that_no_page_tells_of_is_found_out() -> None:
    page = ROOT / "docs" / "how_to" / "latency.md"
    assert tells_of(page, "latency_ms_quantile")
    assert not tells_of(page, "memory_mb")
    assert not any("memory_mb" in limit for limit in EXAMPLES[page])
