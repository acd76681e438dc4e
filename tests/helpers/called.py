"""The program called in this process, for fixtures of more than one test."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest

from automl_admm.cli.main import main


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


def run(*arguments: object) -> Ended:
    """Run the program in this process; an exception that leaves it is a trace-back for users."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return Ended(int(ended.value.code or 0), out.getvalue(), err.getvalue())
