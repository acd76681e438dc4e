"""Every command imports what it needs: in a process where nobody has imported it before.

Other tests run the program where much is imported already. `fit`, `resume` and `leaderboard` have
new interpreters in the tests of limits of the shell, of kills and of closed streams.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from automl_admm.execution.threads import thread_environment

Run = Callable[..., Any]
DATA = "people.csv"
ORDERS = (
    *(("components",), ("constraints",), ("plugins",), ("grammar", "check", "tiny")),
    *(("inspect", DATA), ("store", "check", "RUN")),
    *(("evaluate", "RUN", DATA), ("predict", "RUN", DATA), ("verify", "RUN", DATA)),
)
# Each order in a fork of an interpreter that has the tables and nothing else: neither a module of
# the program, nor one of scikit-learn or SciPy.
END = "\f"
ALONE = """
import json, os, runpy, sys
import pandas
assert not {"automl_admm", "sklearn", "scipy"} & set(sys.modules)
for order in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        sys.argv[1:] = order
        runpy.run_module("automl_admm", run_name="__main__", alter_sys=True)
        sys.exit("the program ends by itself")
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(code, end="\\f", flush=True)
    print(end="\\f", file=sys.stderr, flush=True)
"""


@pytest.mark.timeout(400)
def test_every_command_works_where_nothing_of_it_is_imported(
    run: Run, table: Path, tmp_path: Path
) -> None:
    limit = ("--constraint", "fpr <= 0.99", "--certify", "0.5")
    few = ("--grammar", "tiny", "--cv=2", "--max-evaluations", "1", "--executor", "inline", "-q")
    fitted = run("fit", table, "--target", "buys", *limit, *few, "--out", "RUN")
    assert fitted.code == 0, fitted.err
    done = subprocess.run(
        [sys.executable, "-c", ALONE, json.dumps(ORDERS)],
        cwd=tmp_path,
        env=os.environ | thread_environment(1),  # threads of libraries could not be forked
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ended = zip(ORDERS, done.stdout.split(END), done.stderr.split(END), strict=False)
    for order, printed, told in ended:
        *result, code = printed.rstrip().splitlines()
        assert code == "0", (order, told)
        assert result, order
    assert done.stdout.count(END) == len(ORDERS)
