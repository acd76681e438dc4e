"""A contract's question, asked again in a fresh interpreter."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def in_another_process(contract: type, expression: str) -> Any:
    """Evaluate an expression of a contract `c` in a fresh interpreter with another hash seed."""
    path = Path(inspect.getfile(contract))
    code = (
        "import importlib.util, json, sys\n"
        f"spec = importlib.util.spec_from_file_location('contract_module', {str(path)!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "sys.modules['contract_module'] = module\n"
        "spec.loader.exec_module(module)\n"
        "from automl_admm.testing.problems import MIXED, TREE\n"
        f"c = getattr(module, {contract.__name__!r})()\n"
        f"print(json.dumps({expression}))\n"
    )
    done = subprocess.run(  # noqa: S603 - this interpreter, our own text
        [sys.executable, "-c", code],
        # Any fixed seed: this process has a random one, so sets have another order there.
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.stderr.strip().splitlines() or ["it broke off"])[-1]
    # The last line: a solver may have printed before it.
    answer: Any = json.loads(done.stdout.splitlines()[-1])
    return answer
