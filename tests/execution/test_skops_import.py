from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
from automl_admm.execution.skops_import import HEAVY, import_skops
skops = import_skops()
assert skops is import_skops() is sys.modules["skops.io"]
assert "torch" not in sys.modules
assert not set(HEAVY) & set(sys.modules)
import torch
print(torch.is_here)
"""


def test_skops_comes_without_torch_which_can_be_imported_later(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("is_here = True\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n"
