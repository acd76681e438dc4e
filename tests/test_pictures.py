"""The drawings of the documentation: their colours follow the scheme of the reader."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
DARK = (PICTURES / "dark.css").read_text(encoding="utf-8")
DRAWINGS = sorted(PICTURES.rglob("*.svg"))


@pytest.mark.parametrize("path", DRAWINGS, ids=lambda path: path.stem)
def test_a_drawing_has_the_rules_of_the_dark_for_each_of_its_colours(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert f"<style>\n{DARK}</style>" in text
    known = set(re.findall(r'\[(fill|stroke)="(#\w+)"\]', DARK))
    used = re.findall(r'\b(fill|stroke)="(#\w+)"', text.replace(DARK, ""))
    assert used
    assert set(used) <= known
