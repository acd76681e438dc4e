"""A contract's question asked again: in a fresh interpreter, or in another order."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np

# Of rows in another order a sum differs in its last digits, as in the promise on the order.
SAME = 0.01
# Orders that no other promise has, so that nothing is known of these rows yet.
TURNS = (101, 102)


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


def demand_same_elsewhere(
    values: Sequence[float], contract: type, from_the_end: str, unless: str
) -> None:
    """Compare values with those of another process, which asks for the last of them first.

    A contract that cannot be made elsewhere is skipped, with the reason `unless`.
    """
    try:
        there = in_another_process(contract, from_the_end)[::-1]
    # A class of a module that is not imported by its name has no file.
    except (AssertionError, TypeError, OSError):
        raise SkipTest(unless) from None
    for value, other in zip(values, there, strict=True):
        assert np.isclose(value, other, equal_nan=True), (
            f"{value:g} here, and {other:g} on the same rows in another process: "
            "it keeps the value of the first rows"
        )


def demand_same_backward(values: Sequence[float], from_the_end: Sequence[float]) -> None:
    """Compare values of several answers with those asked for from the last answers on."""
    for value, other in zip(values, reversed(from_the_end), strict=True):
        assert np.isclose(value, other, rtol=SAME, equal_nan=True), (
            f"{value:g}, and {other:g} where other answers for the same rows were measured "
            "before: it keeps their value"
        )
