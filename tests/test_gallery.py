"""The gallery: its notebooks are whole, and their pages show text, code and outputs in order."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import gallery_pages
import pytest
from gallery_pages import keep_outputs, notebooks, page_text

SCRIPTS = notebooks()
PICTURE = b"a picture"
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# A"]},
        {"cell_type": "code", "outputs": []},
        {
            "cell_type": "code",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]},
                {"output_type": "stream", "name": "stderr", "text": ["a warning"]},
                {"data": {"image/png": base64.b64encode(PICTURE).decode(), "text/plain": ["<A>"]}},
            ],
        },
    ]
}
SCRIPT = """# %% [markdown]
# # A
#
# Text.

# %%
x = 1


# %%
print(x)  # 100 %%
"""


def test_there_are_five() -> None:
    assert len(SCRIPTS) == 5


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_notebook_is_listed_titled_and_quick_on_demand(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    compile(text, script.name, "exec")
    assert text.startswith("# %% [markdown]\n# # ")
    assert '"--quick" in sys.argv' in text
    assert f"[{script.name}]({script.name})" in (script.parent / "README.md").read_text()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_all_code_of_a_notebook_is_on_its_page(script: Path) -> None:
    code = [line for line in script.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    page = page_text(script).splitlines()
    assert [line for line in code if line and line not in page] == []


def test_outputs_stand_below_their_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery_pages, "ROOT", tmp_path)
    script = tmp_path / "examples" / "gallery" / "1_a.py"
    script.parent.mkdir(parents=True)
    script.write_text(SCRIPT)
    (tmp_path / "1_a.ipynb").write_text(json.dumps(NOTEBOOK))
    keep_outputs(tmp_path / "1_a.ipynb")
    place = script.parent / "outputs" / "1_a"
    assert (place / "2.png").read_bytes() == PICTURE
    page = page_text(script)
    assert page.startswith("# A\n\nText.\n")
    parts = ["```python\nx = 1\n```", "print(x)  # 100 %%", "```text\none\ntwo\n```", "/2.png)"]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert "warning" not in page
