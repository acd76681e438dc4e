"""A page shows the example's solver as it is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "third_party_plugin"


def test_the_page_shows_the_solver_of_the_example() -> None:
    page = (ROOT / "docs" / "how_to" / "own_solver.md").read_text(encoding="utf-8")
    shown = re.search(r"^<!-- solver -->\n```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert shown is not None
    assert shown[1] == (EXAMPLE / "src" / "one_plus_one" / "solver.py").read_text(encoding="utf-8")


def test_it_has_about_forty_lines_of_code() -> None:
    lines = (
        (EXAMPLE / "src" / "one_plus_one" / "solver.py").read_text(encoding="utf-8").splitlines()
    )
    code = [line for line in lines if line.strip() and not line.lstrip().startswith(('"""', "#"))]
    assert 35 <= len(code) <= 45


def test_the_example_uses_public_names_only() -> None:
    texts = [path.read_text(encoding="utf-8") for path in EXAMPLE.rglob("*.py")]
    modules = set(
        re.findall(r"^\s*(?:from|import) (automl_admm[\w.]*)", "\n".join(texts), re.MULTILINE)
    )
    testing = {"automl_admm.testing.contracts", "automl_admm.testing.searches"}
    assert modules == {"automl_admm.plugin_api"} | testing


def test_its_tests_are_found_where_pytest_has_no_plugins() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"],
        cwd=EXAMPLE,
        env=os.environ
        | {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "",  # a -v of who runs these tests would print another list
            "PYTHONPATH": f"{EXAMPLE / 'src'}:{ROOT}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tests/test_contract.py::TestOnePlusOne::test_stays_inside" in done.stdout
