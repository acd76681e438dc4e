"""The page shows the example's executor as it is, and it keeps the contract."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from automl_admm.plugin_api import Executor, ExecutorSetting
from automl_admm.testing.contracts import ExecutorContract

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "03_own_executor.py"


def load() -> ModuleType:
    """Import the example, whose name is no name for Python."""
    spec = importlib.util.spec_from_file_location("own_executor", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass looks its module up
    spec.loader.exec_module(module)
    return module


class TestCommand(ExecutorContract):
    def make(self, work: Any, setting: ExecutorSetting) -> Executor:
        example = load()
        built: Executor = example.build(work, setting, example.CommandOptions())
        return built


def test_the_page_shows_the_example() -> None:
    page = (ROOT / "docs" / "how_to" / "own_executor.md").read_text(encoding="utf-8")
    shown = re.search(r"^<!-- executor -->\n```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert shown is not None
    assert shown[1] == EXAMPLE.read_text(encoding="utf-8")


def test_it_has_about_eighty_lines_of_its_own() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    between = text[text.index("@dataclass") : text.index("class Squares")].splitlines()
    code = [line for line in between if line.strip() and not line.lstrip().startswith(('"""', "#"))]
    assert 70 <= len(code) <= 95


def test_the_example_uses_public_names_only() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    imported = re.findall(r"^(?:from|import) (automl_admm.*)", text, re.MULTILINE)
    assert imported == ["automl_admm import plugin_api as api"]
