"""Every command imports what it needs: in a new interpreter, where nobody has imported it before.

Other tests run the program where much is imported already. `fit`, `resume` and `leaderboard` have
new interpreters in the tests of limits of the shell, of kills and of closed streams.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
DATA = "people.csv"
ORDERS = (
    *(("components",), ("constraints",), ("plugins",), ("grammar", "check", "tiny")),
    *(("inspect", DATA), ("store", "check", "RUN")),
    *(("evaluate", "RUN", DATA), ("predict", "RUN", DATA), ("verify", "RUN", DATA)),
)


@pytest.mark.timeout(400)
def test_every_command_works_in_a_new_interpreter(run: Run, spawn: Run, table: Path) -> None:
    limit = ("--constraint", "fpr <= 0.99", "--certify", "0.5")
    few = ("--grammar", "tiny", "--cv=2", "--max-evaluations", "1", "--executor", "inline", "-q")
    fitted = run("fit", table, "--target", "buys", *limit, *few, "--out", "RUN")
    assert fitted.code == 0, fitted.err
    for order in ORDERS:
        done = spawn(*order, new_interpreter=True)
        assert done.code == 0, (order, done.err)
        assert done.out
