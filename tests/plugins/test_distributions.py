"""The distributions behind a model are told by its types, and by what their modules import."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from automl_admm.plugins import distributions
from automl_admm.plugins.distributions import (
    Behind,
    behind_providers,
    behind_types,
    distribution_of,
    required,
    version_of,
)

CACHED = ("_plugins", "distribution_of", "_required", "_packages", "_imported", "version_of")
BEHIND = {"own-plugin": "1.0", "quick-trees-cpu": "4.7"}


def install(place: Path, name: str, version: str, files: dict[str, str], more: str = "") -> None:
    for file, text in files.items():
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_text(text, encoding="utf-8")
    info = place / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(head + more, encoding="utf-8")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files), encoding="utf-8")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a plugin on two libraries, one of which its own distribution does not name alike.

    Nobody may import any of it: that would take seconds, and these modules raise.
    """
    fails = "raise RuntimeError\n"
    own = {
        "own_plugin/__init__.py": "",
        "own_plugin/quick.py": "from own_plugin import deep\n" + fails,
        "own_plugin/deep.py": "def fit():\n    from quick_trees import train\n" + fails,
        "own_plugin/plain.py": "import numpy\n" + fails,
    }
    asked = ("automl-admm", "numpy", "quick-trees-cpu>=4; python_version >= '3'", "slow-trees")
    needs = "".join(f"Requires-Dist: {one}\n" for one in asked)
    install(tmp_path, "own-plugin", "1.0", own, needs)
    install(tmp_path, "quick-trees-cpu", "4.7", {"quick_trees/__init__.py": fails})
    install(tmp_path, "slow-trees", "2.0", {"slow_trees.py": fails})
    entry = tmp_path / "own_plugin-1.0.dist-info" / "entry_points.txt"
    entry.write_text("[automl_admm]\nown = own_plugin\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in CACHED:
        getattr(distributions, name).cache_clear()
    yield
    for name in CACHED:
        getattr(distributions, name).cache_clear()


@pytest.mark.usefixtures("installed")
def test_a_model_rests_on_the_library_that_its_module_imports_and_on_no_other() -> None:
    core = ["numpy.dtype", "sklearn.pipeline.Pipeline", "automl_admm.x.Y", "collections.Counter"]
    assert behind_types(core) == {}
    assert behind_types([*core, "own_plugin.quick.Model"]) == BEHIND
    assert distribution_of("quick_trees") == "quick-trees-cpu"


@pytest.mark.usefixtures("installed")
def test_where_the_source_tells_no_library_all_are_told() -> None:
    assert behind_types(["own_plugin.plain.Model"]) == {**BEHIND, "slow-trees": "2.0"}
    assert behind_types(["own_plugin.no_such_module.Model"]) == {**BEHIND, "slow-trees": "2.0"}


@pytest.mark.usefixtures("installed")
def test_a_run_rests_on_all_that_its_plugins_ask_for() -> None:
    providers = ["automl-admm 0.1.0", "own-plugin 1.0", "this process"]
    assert behind_providers(providers) == {**BEHIND, "slow-trees": "2.0"}


@pytest.mark.usefixtures("installed")
def test_behind_a_run_are_its_plugins_and_the_libraries_of_its_models_alone() -> None:
    providers = ["automl-admm 0.1.0", "own-plugin 1.0", "this process"]
    assert Behind.of(providers, ["own_plugin.quick.Model"]) == (
        ("own-plugin",),
        ("quick-trees-cpu",),
    )


def test_the_head_of_the_metadata_tells_what_all_of_them_tell() -> None:
    for name in {one.name for one in metadata.distributions()}:
        assert version_of(name) == metadata.version(name)
        asked = metadata.requires(name) or ()
        assert len(required(name)) == len(asked)
        assert all(map(str.startswith, asked, required(name)))
    assert version_of("no-such-library") == ""


@pytest.mark.parametrize("name", ["numpy", "pluggy", "scikit-learn", "threadpoolctl"])
def test_packages_are_those_of_the_files(name: str) -> None:
    tops = {file.parts[0].removesuffix(".py") for file in metadata.files(name) or ()}
    assert distributions._packages(name) >= tops
