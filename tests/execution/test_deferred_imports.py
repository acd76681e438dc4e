"""Deferred modules are loaded once, at their first use, and then are like any other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from automl_admm.execution.server.early_server import MODULES

BEGIN = "from automl_admm.execution.deferred_imports import *; import sys\n"
DEFER = BEGIN + "defer_imports({'slow': frozenset({'trusted'})})\n"
SLOW = """
print("loading")
import time; time.sleep(0.05)
from slow import inner
__all__ = ["VALUE"]
VALUE = 7
HIDDEN = 8
def twice(x):
    return 2 * x
twice.note = "kept"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A package that says when it loads, and an importer of a name in it."""
    package = tmp_path / "slow"
    package.mkdir()
    (package / "__init__.py").write_text(SLOW, encoding="utf-8")
    (package / "inner.py").write_text("print('inner')\nDEEP = 9\n", encoding="utf-8")
    (tmp_path / "trusted.py").write_text("from slow import twice\n", encoding="utf-8")
    return tmp_path


def said(program: str, folder: Path) -> list[str]:
    """Run a program that finds the package, and return its lines."""
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (
            "import slow; print('now'); slow.VALUE; print(slow.VALUE, type(slow).__name__)",
            "7 module",
        ),
        (
            "import slow; print('now'); from slow import *; print(VALUE, 'HIDDEN' in dir())",
            "7 False",
        ),
        ("import slow; print('now'); from slow.inner import DEEP; print(DEEP, slow.VALUE)", "9 7"),
        ("import slow; print('now'); import slow.inner as i; print(i.__spec__.name)", "slow.inner"),
        ("import slow; print('now'); slow.VALUE = 1; print(slow.VALUE, slow.HIDDEN)", "1 8"),
        ("import slow; print('now'); print('twice' in dir(slow))", "True"),
        ("import slow; print('now'); load_deferred(); print(vars(slow)['VALUE'])", "7"),
        ("import trusted; print('now'); print(trusted.twice(3))", "6"),
        ("import trusted; print('now'); print(trusted.twice.note)", "kept"),
        (
            "import trusted; print('now'); from slow import twice; print(twice.__name__)",
            "twice",
        ),
    ],
)
def test_a_deferred_module_loads_once_at_its_first_use(
    program: str, expected: str, folder: Path
) -> None:
    assert said(DEFER + program, folder) == ["now", "loading", "inner", expected]


def test_threads_that_ask_at_once_get_a_complete_module(folder: Path) -> None:
    program = (
        "import slow; from concurrent.futures import ThreadPoolExecutor as Pool\n"
        "with Pool(8) as pool: print(sum(pool.map(lambda n: getattr(slow, 'HIDDEN'), range(8))))"
    )
    assert said(DEFER + program, folder) == ["loading", "inner", "64"]


def test_a_module_that_cannot_be_loaded_says_so_at_every_use(folder: Path) -> None:
    (folder / "slow" / "__init__.py").write_text("import nowhere_at_all", encoding="utf-8")
    program = """
import slow
for _ in range(2):
    try:
        slow.VALUE
    except ImportError as problem:
        print(problem)
"""
    assert said(DEFER + program, folder) == ["No module named 'nowhere_at_all'"] * 2


def test_a_deferred_module_is_pickled_by_its_name(folder: Path) -> None:
    program = (
        "import slow, cloudpickle, pickle; print(pickle.loads(cloudpickle.dumps(slow)) is slow)"
    )
    assert said(DEFER + program, folder) == ["True"]


def test_scikit_learn_begins_without_statistics_and_has_them_where_it_uses_them(
    tmp_path: Path,
) -> None:
    program = f"""
from automl_admm.execution.server.fork_server import import_all
import_all({MODULES!r})
import sys
stats = sys.modules["scipy.stats"]
print(type(stats).__name__, "scipy.stats.distributions" in sys.modules)
from sklearn.covariance._robust_covariance import chi2
later = chi2(2).isf(0.5)
from scipy.stats import chi2 as real
print(type(stats).__name__, later == real(2).isf(0.5) == chi2.isf(0.5, 2))
load_deferred()
print([name for name, module in sys.modules.items() if isinstance(module, DeferredModule)])
"""
    assert said(BEGIN + program, tmp_path) == ["DeferredModule False", "module True", "[]"]


def test_splines_and_sketches_are_fitted_as_without_deferring(tmp_path: Path) -> None:
    begin = f"""
from automl_admm.execution.server.fork_server import import_all
import_all({MODULES!r})
import sys
print(type(sys.modules["scipy.interpolate"]).__name__)
"""
    fit = """
import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.preprocessing import SplineTransformer
rows = np.linspace(0, 1, 30).reshape(15, 2)
for sparse in (False, True):
    print(repr(SplineTransformer(sparse_output=sparse).fit_transform(rows).sum(axis=0)))
print(repr(PolynomialCountSketch(random_state=0, n_components=3).fit_transform(rows)[1]))
print(repr(IsotonicRegression().fit(rows[:, 0], rows[:, 1]).predict(rows[:3, 0])))
"""
    kind, *deferred = said(BEGIN + begin + fit, tmp_path)
    assert kind == "DeferredModule"
    assert deferred == said(fit, tmp_path)
