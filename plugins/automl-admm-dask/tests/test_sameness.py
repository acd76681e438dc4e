"""What is said of a worker that has other versions than the run."""

from __future__ import annotations

from automl_admm_dask.sameness import PACKAGES, explain_difference


def versions(python="3.11.7.final.0", **packages):
    known = dict.fromkeys(PACKAGES, "1.0") | {"dask": "2026"}
    named = {name.replace("_", "-"): version for name, version in packages.items()}
    return {"host": {"python": python}, "packages": known | named}


def test_the_same_is_the_same():
    assert explain_difference(versions(), versions(python="3.11.9.final.0", dask="2025")) is None


def test_every_difference_is_named():
    there = versions("3.12.1.final.0", automl_admm_dask=None, scikit_learn="0.9")
    assert explain_difference(versions(), there) == (
        "Python is 3.12 there and 3.11 here, it has no automl-admm-dask, "
        "scikit-learn is 0.9 there and 1.0 here"
    )
