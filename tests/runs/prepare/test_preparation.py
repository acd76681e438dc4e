"""A run goes on with the optional components that it began with, and without the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import StoreError
from automl_admm.plugin_api import ComponentPlugin, hookimpl
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.basis import basis_of
from automl_admm.runs.prepare.preparation import prepare

GRAMMAR = """\
%import? components (bayes)
%import components (logistic_regression)
start: bayes | logistic_regression
"""


class Bayes:
    """A package with one component; one that cannot be built if a part is missing."""

    def __init__(self, missing: str = "") -> None:
        self.missing = missing

    @hookimpl
    def components(self) -> Iterator[ComponentPlugin]:
        yield ComponentPlugin(
            name="bayes", summary="bayes", role="estimator", factory=build, missing=self.missing
        )


def build(values: Any, context: Any) -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


class Runs:
    """Sessions of one run, with or without the package."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(0)
        self.X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
        self.y = pd.Series(np.where(self.X["a"] > 0, "yes", "no"), name="y")
        grammar = folder / "mine.lark"
        grammar.write_text(GRAMMAR, encoding="utf-8")
        self.config = RunConfig(
            grammar=grammar, work_dir=folder / "run", executor="inline", max_evaluations=1, cv=0.3
        )

    def go(self, *packages: Bayes, **changed: Any) -> dict[str, Any]:
        """Return `run.json` after a session, and the evaluated pipelines as `tried`."""
        extra = {f"package_{place}": package for place, package in enumerate(packages)}
        config = replace(self.config, extra_plugins=extra, **changed)
        outcome = run_pipelines(prepare(config, self.X, self.y))
        said: dict[str, Any] = json.loads((self.config.work_dir / "run.json").read_text())
        return said | {"tried": [e.text.partition("(")[0] for e in outcome.result.evaluations]}


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


MORE = {"resumed": True, "max_evaluations": 2}


@pytest.mark.parametrize("reason", ["", "its library is too old"])
def test_a_run_goes_on_without_what_it_began_without(runs: Runs, reason: str) -> None:
    packages = [Bayes(reason)] if reason else []
    begun = runs.go(*packages)
    assert begun["components_left_out"] == {"bayes": reason}
    assert begun["tried"] == ["logistic_regression"]
    more = runs.go(Bayes(), **MORE)
    assert more["tried"] == ["logistic_regression"] * 2
    assert list(more["components_left_out"]) == ["bayes"]
    assert "--allow-changed" in more["components_left_out"]["bayes"]
    taken = runs.go(Bayes(), **MORE | {"max_evaluations": 4}, changes_allowed=True)
    assert taken["components_left_out"] == {}
    assert taken["tried"][:2] == ["logistic_regression"] * 2
    assert "bayes" in taken["tried"]


@pytest.mark.parametrize("packages", [[], [Bayes("its library is gone")]])
def test_a_run_whose_component_is_gone_says_so(runs: Runs, packages: list[Bayes]) -> None:
    assert runs.go(Bayes())["tried"] == ["bayes"]
    with pytest.raises(StoreError, match="component 'bayes': there → left out"):
        runs.go(*packages, **MORE)
    said = runs.go(*packages, **MORE, changes_allowed=True)
    assert set(said["tried"]) == {"logistic_regression"}
    assert list(said["components_left_out"]) == ["bayes"]


class Tables:
    """Preparations on one table of numbers."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(1)
        self.X = pd.DataFrame(rng.normal(size=(90, 3)), columns=["a", "b", "c"])
        self.y = pd.Series(np.where(self.X["a"] > 0, "yes", "no"), name="y")
        self.config = RunConfig(
            grammar="tiny", work_dir=folder / "run", executor="inline", max_evaluations=3, cv=0.3
        )

    def fillings(self, X: pd.DataFrame | None = None, **changed: Any) -> bool:
        """Return whether the filling of gaps is searched."""
        X = self.X if X is None else X
        space = prepare(replace(self.config, **changed), X, self.y).problem.space
        return any(item.name.endswith("impute.strategy") for item in space.decisions)


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(tmp_path)


def test_fillings_are_searched_in_tables_with_gaps_alone(tables: Tables) -> None:
    assert not tables.fillings()
    gap = tables.X.copy()
    gap.loc[7, "c"] = np.nan
    assert tables.fillings(gap)
    # A category with gaps is filled in a way of its own.
    categories = tables.X.assign(d=np.where(tables.X["b"] > 0, "x", None))
    assert not tables.fillings(categories)


def test_fillings_are_searched_where_a_limit_asks_about_gaps(tables: Tables) -> None:
    assert tables.fillings(constraints=("blank_moves_0.2 <= 0.5",))
    assert not tables.fillings(constraints=("fpr <= 0.5", "latency_us <= 1000"))


def test_fillings_are_searched_where_the_user_says_where_to_begin(tables: Tables) -> None:
    asked = 'impute(strategy="median") gaussian_nb()'
    assert tables.fillings(starts=(asked,))
    usual = ('impute(strategy="mean") gaussian_nb()', "impute() logistic_regression()")
    assert not tables.fillings(starts=usual)
    outcome = run_pipelines(prepare(replace(tables.config, starts=(asked,)), tables.X, tables.y))
    assert outcome.result.evaluations[0].text == asked


def test_evaluations_mean_the_same_whether_fillings_are_searched_or_not(tables: Tables) -> None:
    """The space is another one, what was measured is not: `--reuse` takes it."""
    found = [
        basis_of(prepare(replace(tables.config, **changed), tables.X, tables.y))
        for changed in ({}, {"starts": ('impute(strategy="median") gaussian_nb()',)})
    ]
    assert found[0]["columns"] == found[1]["columns"]


def _with_sizes(tables: Tables) -> pd.DataFrame:
    sizes = np.resize(["small", "medium", "large"], len(tables.X))
    return tables.X.assign(size=sizes)


def test_evaluations_with_an_order_are_not_those_without(tables: Tables) -> None:
    prepared = prepare(tables.config, _with_sizes(tables), tables.y)
    context = prepared.work.context
    without = replace(context, orders=((),) * len(context.orders))
    earlier = replace(prepared, work=replace(prepared.work, context=without))
    assert basis_of(prepared)["columns"] != basis_of(earlier)["columns"]
    assert repr(without) == repr(prepared.work.context)
