"""A handful of components that nobody can build: grammars know names, ranges and roles only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from automl_admm.core.space import Choice, Condition, Parameter, Value
from automl_admm.plugins.records import BuildContext, ComponentPlugin
from automl_admm.plugins.registry import Registry


def build(values: Mapping[str, Value], context: BuildContext) -> Any:
    raise AssertionError("a grammar builds nothing")


TRANSFORMERS = {
    "impute": (Choice("strategy", ("mean", "median")),),
    "scale": (),
    "pca": (
        Parameter("n_components", 0.5, 1.0, default=0.9),
        Parameter("whiten", 0, 1, kind="int", values=(False, True)),
    ),
    "select": (Parameter("percentile", 1, 100, kind="int"),),
}
ESTIMATORS = {
    "forest": (Parameter("n_estimators", 10, 1000, kind="int", log=True, default=100),),
    "ridge": (Parameter("alpha", 1e-3, 1e3, log=True),),
    "svm": (
        Choice("kernel", ("linear", "poly")),
        Parameter("degree", 2, 5, kind="int", when=Condition("kernel", ("poly",))),
    ),
    "catty": (Parameter("depth", 1, 9, kind="int"),),
}
WEIGHERS = {"weigh": (Parameter("strength", 0.5, 2.0, default=1.0),)}
MISSING = {"catty": "its library is not installed: pip install catty"}


@pytest.fixture(scope="session")
def components() -> Registry[ComponentPlugin]:
    registry: Registry[ComponentPlugin] = Registry("component")
    for name, parameters in {**TRANSFORMERS, **ESTIMATORS, **WEIGHERS}.items():
        role = "weigher" if name in WEIGHERS else "transformer"
        plugin = ComponentPlugin(
            name=name,
            summary="a fake",
            role="estimator" if name in ESTIMATORS else role,
            factory=build,
            parameters=parameters,
            needs=frozenset({"groups"} if name in WEIGHERS else ()),
            missing=MISSING.get(name, ""),
        )
        registry.add(plugin, "tests")
    return registry


@pytest.fixture(scope="session")
def elsewhere() -> frozenset[str]:
    """The components that only another task has."""
    return frozenset({"bayes"})
