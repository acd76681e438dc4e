"""Another process for the contracts of solvers is a fork, far cheaper than an interpreter."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from program import run_python

from automl_admm.testing import fresh_process


@pytest.fixture(scope="module", autouse=True)
def forked_questions() -> Iterator[None]:
    """Ask in a fork of a process with a random hash seed of its own.

    A fresh interpreter answers in `tests/testing`, and wherever somebody else uses the contracts.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fresh_process, "subprocess", SimpleNamespace(run=run_forked))
        yield


def run_forked(
    line: list[str], *, env: Mapping[str, str], **more: Any
) -> subprocess.CompletedProcess[str]:
    """Run a code as `subprocess.run` does, but for the hash seed that was asked for."""
    del more
    own = {name: text for name, text in env.items() if name != "PYTHONHASHSEED"}
    return run_python(*line[1:], env=own)
