"""Contracts that ask another process ask a fork, which is far cheaper than an interpreter."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from program import READ_LATE, run_python, server_environment

WARNING = "import warnings; warnings.simplefilter('error')\n"


@contextmanager
def forked_questions(*modules: ModuleType) -> Iterator[None]:
    """Let modules of contracts ask forks of a process with a random hash seed of its own.

    A fresh interpreter answers in `tests/testing/test_contracts.py`, and wherever somebody else
    uses the contracts.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            patch.setattr(module, "subprocess", SimpleNamespace(run=run_forked))
        yield


def run_forked(
    line: list[Any], *, cwd: Path | None = None, **more: Any
) -> subprocess.CompletedProcess[str]:
    """Run a code as `subprocess.run` does, with the hash seed and the environment of the session.

    Libraries of a plugin put variables into the environment of this process.
    """
    del more
    place = line.index("-c")
    flags, code, rest = line[1:place], line[place + 1], line[place + 2 :]
    assert flags in ([], ["-W", "error"]), "a fork has the flags of its server"
    late = {name: text for name, text in os.environ.items() if name in READ_LATE}
    environment = {**server_environment(), **late}
    return run_python("-c", f"{WARNING if flags else ''}{code}", *rest, env=environment, cwd=cwd)
