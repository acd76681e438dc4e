"""Runs that tests copy: each is made once, in a place of its own with its ledger of looks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from automl_admm.cli.main import main


@contextmanager
def at(place: Path) -> Iterator[pytest.MonkeyPatch]:
    """Let the program run in a folder and keep its ledger of looks there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        yield patch


def ended(*command: str | Path) -> SystemExit:
    """Run the program in this process, and return how it ended."""
    with pytest.raises(SystemExit) as raised:
        main([str(word) for word in command])
    return raised.value


def copied(place: Path, state_home: Path) -> Path:
    """Copy the run in `out` to where the program runs, and its ledger to where it looks for it."""
    shutil.copytree(place / "state", state_home)
    return Path(shutil.copytree(place / "out", "out"))
