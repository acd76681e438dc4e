"""Pages of the gallery, from its notebooks and from what these showed when they were run.

A notebook is a script with cells: `# %% [markdown]` begins text, `# %%` code. The output of its
third code cell is in `outputs/NAME/3.txt` and `outputs/NAME/3.png` beside it, if there is any.
`python docs/making/gallery_pages.py NOTEBOOK.ipynb…` keeps the outputs of executed notebooks there.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
GALLERY = "examples/gallery"
CELL = re.compile(r"^# %%(?P<kind>[^\n]*)\n(?P<text>.*?)(?=^# %%|\Z)", re.DOTALL | re.MULTILINE)


def notebooks() -> list[Path]:
    """List the scripts of the gallery."""
    return sorted((ROOT / GALLERY).glob("[0-9]*.py"))


def page_text(script: Path) -> str:
    """Return a notebook as Markdown."""
    return "\n".join(_parts(script))


def _parts(script: Path) -> Iterator[str]:
    number, is_told = 0, False
    for cell in CELL.finditer(script.read_text(encoding="utf-8")):
        if "[markdown]" in cell["kind"]:
            yield re.sub(r"^# ?", "", cell["text"], flags=re.MULTILINE)
            if not is_told:
                yield f"*This page is made from* `{GALLERY}/{script.name}`.\n"
            is_told = True
            continue
        number += 1
        yield f"```python\n{cell['text'].strip()}\n```\n"
        yield from _outputs(script, number)


def _outputs(script: Path, number: int) -> Iterator[str]:
    place = script.parent / "outputs" / script.stem
    if (told := place / f"{number}.txt").exists():
        yield f"```text\n{told.read_text(encoding='utf-8').rstrip()}\n```\n"
    if (place / f"{number}.png").exists():
        yield f"![The picture that this cell draws](outputs/{script.stem}/{number}.png)\n"


def keep_outputs(notebook: Path) -> None:
    """Write what an executed notebook printed and drew, for the page of its script."""
    place = ROOT / GALLERY / "outputs" / notebook.stem
    place.mkdir(parents=True, exist_ok=True)
    for old in place.iterdir():
        old.unlink()
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = (cell for cell in cells if cell["cell_type"] == "code")
    for number, cell in enumerate(code, start=1):
        said = "".join(text for one in cell["outputs"] for text in _printed(one))
        if said.strip():
            (place / f"{number}.txt").write_text(said.rstrip() + "\n", encoding="utf-8")
        for one in cell["outputs"]:
            if picture := one.get("data", {}).get("image/png"):
                (place / f"{number}.png").write_bytes(base64.b64decode(picture))


def _printed(output: dict[str, Any]) -> Iterator[str]:
    """Yield what a cell printed; warnings and the values of last lines are left out."""
    if output.get("name") == "stdout":
        yield from output["text"]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        keep_outputs(Path(name))
