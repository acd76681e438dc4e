"""The first evaluation waits for no module that it does not need, and imports none for itself.

Names of modules, not seconds, tell that its start has not grown back.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

# Until the first evaluation has ended, the program; and each fork of it at its end, what is new.
PROGRAM = """
import json, os, sys
from automl_admm.progress.observer import Progress

folder, sys.argv = sys.argv[1], ["automl-admm", *sys.argv[2:]]
known, leave, depth = set(), os._exit, 0

def tell(place, modules):
    names = [name for name in modules if type(sys.modules[name]).__name__ != "DeferredModule"]
    with open(f"{folder}/{place}.json", "w") as file:
        json.dump(sorted(names), file)

def leave_fork(code):
    tell(f"fork-{depth}-{os.getpid()}", set(sys.modules) - known)
    leave(code)

def leave_program(*_):
    tell("program", set(sys.modules))
    leave(0)

def begin_fork():
    global depth
    depth += 1
    os._exit = leave_fork
    known.update(sys.modules)

Progress.evaluation_finished = leave_program
os.register_at_fork(after_in_child=begin_fork)
from automl_admm.__main__ import run
run()
"""
UNUSED = {
    # for other grammars, files, commands, displays and models
    *("lark", "regex", "skops", "matplotlib", "fsspec", "fastapi", "onnx", "skl2onnx", "polars"),
    *("rich.markdown", "rich.syntax", "pygments", "IPython", "pytest", "unittest", "doctest"),
    *("sklearn.ensemble", "sklearn.tree", "sklearn.cluster", "sklearn.feature_selection"),
    *("sklearn.neural_network", "sklearn.gaussian_process", "sklearn.manifold"),
    *("lightgbm", "xgboost", "catboost", "smac", "optuna", "hyperopt", "dask", "ray", "torch"),
    # deferred: for functions of scikit-learn that no first pipeline calls
    *("asyncio", "numpy.f2py", "numpy.testing", "scipy.fft", "scipy.interpolate", "scipy.ndimage"),
    *("scipy.signal", "scipy.stats"),
    # of this package: other commands, the test kit, the report
    *("automl_admm.api", "automl_admm.report", "automl_admm.testing"),
    *("automl_admm.cli.commands.export", "automl_admm.cli.commands.predict"),
}


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the modules of a program after its first evaluation, and of its forks."""
    folder = tmp_path_factory.mktemp("imported")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=80), "c": rng.choice(list("abc"), 80)})
    table.assign(y=np.where(table["x"] > 0, "yes", "no")).to_csv(folder / "t.csv", index=False)
    data = (str(folder / "t.csv"), "--target", "y", "--out", str(folder / "run"))
    options = ("--budget", "300s", "--workers", "1", "--cv", "2")
    program = (sys.executable, "-c", PROGRAM, str(folder), "fit", *data, *options)
    subprocess.run(program, cwd=folder, check=True, capture_output=True, timeout=240)
    return folder


def within(modules: list[str], packages: set[str]) -> list[str]:
    """Return the modules that are one of these packages, or in one."""
    return [name for name in modules if any(f"{name}.".startswith(f"{p}.") for p in packages)]


def test_the_program_has_imported_nothing_that_the_first_evaluation_does_not_need(
    imported: Path,
) -> None:
    loaded = json.loads((imported / "program.json").read_text())
    assert within(loaded, {"sklearn.linear_model"})
    assert within(loaded, UNUSED) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only there evaluations are forks")
def test_the_evaluation_has_imported_no_library_that_all_evaluations_need(imported: Path) -> None:
    # The server, a fork of the program, imports for later pipelines; evaluations are its forks.
    forks = [json.loads(path.read_text()) for path in imported.glob("fork-2-*.json")]
    assert forks
    libraries = {"numpy", "pandas", "pyarrow", "narwhals", "scipy", "sklearn", "joblib"}
    assert [within(modules, libraries) for modules in forks] == [[]] * len(forks)
