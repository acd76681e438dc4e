"""Compare a worker's packages with the run's: pickled works and models need the same versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PACKAGES = ("automl-admm", "automl-admm-dask", "numpy", "pandas", "scikit-learn")


def explain_difference(here: Mapping[str, Any], there: Mapping[str, Any]) -> str | None:
    """Return the difference of two answers of `distributed.versions.get_versions`, or None.

    Of Python's version only the first two numbers matter.
    """
    differences = [
        f"it has no {name}" if theirs is None else f"{name} is {theirs} there and {ours} here"
        for name, ours, theirs in _pairs(here, there)
        if ours != theirs
    ]
    return ", ".join(differences) or None


def _pairs(here: Mapping[str, Any], there: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    ours, theirs = (".".join(side["host"]["python"].split(".")[:2]) for side in (here, there))
    packages = [(name, here["packages"][name], there["packages"].get(name)) for name in PACKAGES]
    return [("Python", ours, theirs), *packages]
