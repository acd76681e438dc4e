"""Compare a worker's packages with the run's: pickled works and models need the same versions."""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping
from importlib.metadata import PackageNotFoundError, version

Versions = Mapping[str, str | None]
SHARED = ("automl-admm", "numpy", "pandas", "scikit-learn")


def installed_versions(*more: str) -> Versions:
    """Return the versions that a worker and the run must share; None for a missing package.

    Of Python's version only the first two numbers matter. `more` names packages of the plugin.

    >>> sorted(installed_versions("no-such-package"))
    ['Python', 'automl-admm', 'no-such-package', 'numpy', 'pandas', 'scikit-learn']
    """
    python = ".".join(map(str, sys.version_info[:2]))
    return {"Python": python} | {name: _version(name) for name in (*SHARED, *more)}


def explain_difference(
    here: Versions, there: Versions, may_lack: Container[str] = ()
) -> str | None:
    """Return the difference of two answers of `installed_versions` in words, or None.

    What a worker `may_lack` is compared where it is there: a library may have another name, such as
    `xgboost` for `xgboost-cpu`, or be of no use to this run.

    >>> explain_difference({"numpy": "2.1"}, {"numpy": "2.0"})
    'numpy is 2.0 there and 2.1 here'
    """
    differences = [
        f"it has no {name}" if theirs is None else f"{name} is {theirs} there and {ours} here"
        for name, ours, theirs in ((name, ours, there.get(name)) for name, ours in here.items())
        if ours != theirs and not (theirs is None and name in may_lack)
    ]
    return ", ".join(differences) or None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
