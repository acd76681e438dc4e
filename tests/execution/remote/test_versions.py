"""Differences between the packages of a worker and of the run, in words."""

from __future__ import annotations

from automl_admm.execution.remote.versions import explain_difference, installed_versions

HERE = {"Python": "3.11", "automl-admm": "1.0", "automl-admm-dask": "1.0", "scikit-learn": "1.0"}


def test_the_same_is_the_same():
    assert explain_difference(HERE, HERE | {"dask": "2025"}) is None


def test_every_difference_is_named():
    there = {
        "Python": "3.12",
        "automl-admm": "1.0",
        "automl-admm-dask": None,
        "scikit-learn": "0.9",
    }
    assert explain_difference(HERE, there) == (
        "Python is 3.12 there and 3.11 here, it has no automl-admm-dask, "
        "scikit-learn is 0.9 there and 1.0 here"
    )


def test_a_package_of_the_plugin_is_compared_too():
    found = installed_versions("no-such-package")
    assert found["no-such-package"] is None
    assert found["automl-admm"]
    assert explain_difference(found, found) is None


def test_a_library_may_be_lacking_but_not_another_one():
    here = {"automl-admm-boost": "1.0", "xgboost-cpu": "3.0", "lightgbm": "4.6"}
    there = {"automl-admm-boost": None, "xgboost-cpu": None, "lightgbm": "4.5"}
    libraries = ("xgboost-cpu", "lightgbm")
    said = "it has no automl-admm-boost, lightgbm is 4.5 there and 4.6 here"
    assert explain_difference(here, there, libraries) == said
