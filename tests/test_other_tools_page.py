"""The Python of the page on other tools runs, with the plugins that it names."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "how_to" / "other_tools.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SNIPPETS = BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def test_there_are_snippets() -> None:
    assert PAGE.name == "other_tools.md"
    assert SNIPPETS


# MLflow says so of its own classes, in the first test of a process that imports it.
@pytest.mark.filterwarnings("ignore:.*Any type hint is inferred as AnyType:UserWarning")
@pytest.mark.parametrize("text", SNIPPETS)
def test_a_snippet_runs(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in re.findall(r"from (automl_admm_\w+) import", text):
        pytest.importorskip(name)
    shutil.copytree(HERE / "runs" / "stored_run" / "stacked", tmp_path / "people-run")
    monkeypatch.chdir(tmp_path)
    exec(text, {})  # noqa: S102 - what the page shows
    assert capsys.readouterr().out.strip()
