"""The head of `pipeline.py`: what it is, its call, its needs and imports, and its threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from automl_admm.execution.threads import THREAD_VARIABLES, threads_each
from automl_admm.plugins.distributions import distribution_of
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.finish.script.bundle import Bundle
from automl_admm.runs.finish.script.packed_rows import packed_folds
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.provenance import versions


def docstring_of(outcome: PipelineResult, foreign: Iterable[str]) -> str:
    """Return the docstring of the script; `foreign` packages are needed beside scikit-learn."""
    known = versions()
    needs = ["scikit-learn", "pandas", *map(distribution, foreign)]
    lines = [
        "The winning pipeline of a run, built and fitted anew.",
        "",
        "    python pipeline.py [TRAIN [NEW [OUTPUT]]]",
        "",
        "It fits the pipeline on TRAIN, and prints the predictions of NEW or writes them to",
        "OUTPUT, CSV or Parquet. Without NEW it says how well it fits rows held out. TRAIN is",
        "by default the file of the run, named from the folder where that was started.",
        "",
        f"Needs: {', '.join(needs)}. The run had scikit-learn {known['scikit-learn']} and",
        f"pandas {known['pandas']}; other versions may fit another model.",
        *_warnings(outcome),
    ]
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""'


def _warnings(outcome: PipelineResult) -> Iterator[str]:
    """Say where the script fits other rows than the run did."""
    refit = outcome.refit
    if outcome.preparation.config.share is not None:
        yield "The run had time to read a part of the file: this script fits on all of it."
    if refit.of_folds is not None and not packed_folds(outcome):
        yield f"The model of the run is {refit.of_folds.made}: this script fits on all of TRAIN."
    if refit.rows is not None:
        yield f"The run had time to fit {refit.rows} rows: this script fits on all of TRAIN."


def threads_of(prepared: Preparation) -> str:
    """Return the lines that give the script as many threads as the run had."""
    names = ", ".join(f'"{name}"' for name in THREAD_VARIABLES)
    return (
        "import os\n\n# Sums in another order differ in their last digit: the run had so many "
        f"threads.\nfor variable in ({names}):\n"
        f'    os.environ.setdefault(variable, "{threads_each(prepared.config.n_jobs)}")'
    )


def distribution(package: str) -> str:
    """Return the name by which a package is installed."""
    return distribution_of(package) or package


def plain_imports(bundle: Bundle) -> str:
    """Return the imports that are at hand wherever the script runs."""
    plain = [line for line in bundle.imports if "__future__" not in line]
    always = {
        "import sys",
        "from pathlib import Path",
        "from typing import Any",
        "import numpy as np",
    }
    return "\n".join(sorted({*plain, *always}))


def guarded_imports(paths: Sequence[str], packages: Iterable[str]) -> Iterator[str]:
    """Yield the import of other packages' components; without them the script says what to do."""
    if not paths:
        return
    pairs = [path.rpartition(".")[::2] for path in paths]
    lines = [f"    from {module} import {name}" for module, name in pairs]
    cure = f"pip install {' '.join(map(distribution, packages))}"
    missing = f'sys.exit(f"error: the package {{problem.name}} is missing. Install it: {cure}")'
    yield "\n".join(["try:", *lines, f"except ModuleNotFoundError as problem:\n    {missing}"])
