"""The lines of `pipeline.py` that import what its pipeline consists of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from automl_admm.plugins.distributions import distribution_of
from automl_admm.runs.finish.script.bundle import Bundle


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
