from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from automl_admm.core.errors import UnknownNameError
from automl_admm.plugins.loading import OUR_PLUGINS, PluginInfo, Plugins, load_plugins
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.suggestions import check_parts, tell_left_out, whence, with_article

PLUGINS = Path(__file__).parents[3] / "plugins"


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """Only what ships with this package, as if nothing else were installed."""

    def is_missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setenv("AUTOML_ADMM_PLUGINS", "")
    monkeypatch.setattr(metadata, "distribution", is_missing)
    return load_plugins()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"theta_solver": "bo"}, "no theta solver named 'bo'. 'bo' is a z solver: z_solver='bo'"),
        ({"z_solver": "gp:points=9"}, "'gp' is a theta solver: theta_solver='gp'"),
        ({"z_solver": "local"}, "'local' is an executor: executor='local'"),
        ({"theta_solver": "joint"}, "'joint' is a strategy: strategy='joint'"),
        ({"strategy": "adm"}, "no strategy named 'adm'. Did you mean 'admm'"),
        ({"theta_solver": "gpp"}, "no theta solver named 'gpp'. Did you mean 'gp'"),
        (
            {"theta_solver": "smac"},
            r"automl-admm-smac brings it: pip install \./plugins/automl-admm-smac$",
        ),
        ({"executor": "dask"}, "automl-admm-dask brings it: pip install"),
        ({"executor": "ray"}, "automl-admm-ray brings it: pip install"),
    ],
)
def test_a_name_that_is_not_there_is_explained(
    ours: Plugins, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(UnknownNameError, match=says):
        check_parts(RunConfig(**given), ours)


def test_what_is_there_is_well(ours: Plugins) -> None:
    check_parts(RunConfig(theta_solver="tpe:initial=3", z_solver="cmab", strategy="joint"), ours)


def test_one_of_ours_that_is_broken_is_not_to_be_installed_again(ours: Plugins) -> None:
    ours.infos.append(PluginInfo("smac", "automl-admm-smac 0.1.0", "failed: ImportError: no SMAC"))
    says = "automl-admm-smac 0.1.0 would bring it, and failed: ImportError: no SMAC."
    assert whence("smac-gp", ours) == says
    assert whence("optuna", ours) == (
        "automl-admm-optuna brings it: pip install ./plugins/automl-admm-optuna"
    )
    assert whence("somebody-elses", ours) is None


def test_one_that_is_left_out_is_not_to_be_installed_again(
    ours: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "distribution", str)
    says = "automl-admm-dask brings it, but AUTOML_ADMM_PLUGINS leaves it out."
    assert whence("dask", ours) == says


def test_the_packages_bring_what_is_said_of_them() -> None:
    assert set(OUR_PLUGINS) == {path.parent.name for path in PLUGINS.glob("*/pyproject.toml")}
    found = dict[str, set[str]]()
    for provider, name in provided(load_plugins()):
        found.setdefault(provider.split()[0], set()).add(name)
    for package in OUR_PLUGINS.keys() & found.keys():
        assert found[package] == set(OUR_PLUGINS[package])


def provided(plugins: Plugins) -> Iterator[tuple[str, str]]:
    solvers = (plugins.theta_solvers, plugins.z_solvers, plugins.executors)
    for registry in (*solvers, *plugins.components.values()):
        for record in registry:
            yield registry.provider(record.name), record.name


def test_what_is_left_out_of_a_grammar_is_one_line(ours: Plugins) -> None:
    assert tell_left_out({}, ours) is None
    reason = "needs rust: install it"
    left_out = {"catboost": reason, "lightgbm": "", "ridgee": "", "xgboost": "", "zzz": ""}
    assert tell_left_out(left_out, ours) == (
        "left out of the grammar: catboost (needs rust: install it); lightgbm, xgboost "
        "(automl-admm-boost brings it: pip install ./plugins/automl-admm-boost); ridgee "
        "(no installed package has it; did you mean 'ridge'?); zzz (no installed package has it)"
    )


def test_articles() -> None:
    assert [with_article(kind) for kind in ("executor", "z solver")] == [
        "an executor",
        "a z solver",
    ]
