"""The distributions behind a run's components, limits and metric, as a worker must have them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from automl_admm.core.structure.pipeline_space import Module, Union
from automl_admm.plugins.distributions import Behind
from automl_admm.runs.session import brought_parts
from automl_admm.runs.session.brought_parts import behind_parts

TYPES = {"ridge": ("sklearn.linear_model.Ridge",), "trees": ("own_plugin.quick.Model",)}


class Metrics:
    """A metric of a plugin."""

    def __contains__(self, name: str) -> bool:
        return True

    def provider(self, name: str) -> str:
        return "own-metrics 3.0"


class Components:
    """Two components of a grammar: of the core, and of a plugin."""

    def get(self, name: str) -> Any:
        return SimpleNamespace(trusted_types=TYPES[name])

    def provider(self, name: str) -> str:
        return "own-plugin 1.0" if name == "trees" else "automl-admm 0.1.0"


def prepared(*names: str) -> Any:
    modules = tuple(Module(name) for name in names)
    limit = SimpleNamespace(
        limit=SimpleNamespace(name="price"), declared=SimpleNamespace(provider="own-limits 2.0")
    )
    return SimpleNamespace(
        task="regression",
        config=SimpleNamespace(scoring="of_plugin"),
        metric=SimpleNamespace(name="of_plugin"),
        constraints=(limit,),
        plugins=SimpleNamespace(components={"regression": Components()}, metrics=Metrics()),
        grammar=SimpleNamespace(pipelines=SimpleNamespace(shape=Union(modules))),
    )


def test_all_that_a_run_is_measured_by_is_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(
        brought_parts,
        "Behind",
        SimpleNamespace(of=lambda *both: asked.append(list(map(set, both)))),
    )
    behind_parts(prepared("ridge", "trees"))
    assert asked == [
        [
            {"automl-admm 0.1.0", "own-plugin 1.0", "own-metrics 3.0", "own-limits 2.0"},
            {"sklearn.linear_model.Ridge", "own_plugin.quick.Model"},
        ]
    ]


def test_nothing_is_behind_components_of_the_core() -> None:
    assert Behind.of(["automl-admm 0.1.0"], ["sklearn.linear_model.Ridge"]) == ((), ())
