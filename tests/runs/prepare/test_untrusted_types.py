"""Components whose trusted types are fine are not built again until something is installed anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from sklearn.naive_bayes import GaussianNB

from automl_admm import ComponentPlugin
from automl_admm.grammar.compile import load_grammar
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.registry import HERE
from automl_admm.runs.prepare import untrusted_types

Tell = Callable[..., list[str]]
MINE = ComponentPlugin(
    name="mine", summary="one", role="estimator", factory=lambda values, known: GaussianNB()
)


@pytest.fixture
def found() -> dict[str, str | None]:
    """What the child process finds of each component."""
    return {"mine": ""}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, found: Mapping[str, str | None]) -> list[list[str]]:
    """The names that each child process was started for."""
    asked: list[list[str]] = []

    def answer(task: str, names: list[str], seconds: float) -> dict[str, str | None]:
        if names:
            asked.append(names)
        return {name: found[name] for name in names if name in found}

    monkeypatch.setattr(untrusted_types, "_find_apart", answer)
    return asked


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed distributions, and a cache folder of its own."""
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return place


@pytest.fixture
def tell(tmp_path: Path, started: Any, site: Path, monkeypatch: pytest.MonkeyPatch) -> Tell:
    """Check a component of a provider, and return the warnings."""
    path = tmp_path / "mine.lark"
    path.write_text("%import components (mine)\nstart: mine\n")
    warned: list[str] = []
    monkeypatch.setattr(
        untrusted_types.logger, "warning", lambda text, *given: warned.append(text % given)
    )

    def call(provider: str = "theirs 1.0") -> list[str]:
        warned.clear()
        plugins = load_plugins()
        components = plugins.components["classification"]
        components.add(MINE, provider)
        grammar = load_grammar(path, components, plugins.grammars)
        untrusted_types.tell_untrusted(components, grammar, "classification", None)
        return list(warned)

    return call


def test_a_component_without_faults_is_built_once(tell: Tell, started: Any) -> None:
    assert [tell(), tell()] == [[], []]
    assert started == [["mine"]]


@pytest.mark.parametrize("faults", ["lack theirs.Own", None])
def test_a_fault_and_what_cannot_be_built_are_looked_at_each_time(
    tell: Tell, started: Any, found: dict[str, str | None], faults: str | None
) -> None:
    found["mine"] = faults
    for _ in range(2):
        told = tell()
        assert [str(faults) in line for line in told] == ([] if faults is None else [True])
    assert started == [["mine"], ["mine"]]


def test_what_was_not_found_in_time_is_looked_at_again(
    tell: Tell, started: Any, found: dict[str, str | None]
) -> None:
    found.clear()
    assert [tell(), tell()] == [[], []]
    assert started == [["mine"], ["mine"]]


def test_another_version_of_any_distribution_is_another_state(
    tell: Tell, started: Any, site: Path, found: dict[str, str | None]
) -> None:
    about = site / "library-1.0.dist-info"
    about.mkdir()
    tell()
    about.rename(site / "library-1.1.dist-info")
    found["mine"] = "lack library.New"
    assert "lack library.New" in tell()[0]
    assert len(started) == 2


def test_a_changed_file_of_a_plugin_is_another_state(
    tell: Tell, started: Any, site: Path, found: dict[str, str | None]
) -> None:
    about = site / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[automl_admm]\ntheirs = theirs_plugin\n")
    (site / "theirs_plugin.py").write_text("")
    tell()
    (site / "theirs_plugin.py").write_text("changed = True\n")
    found["mine"] = "lack theirs.New"
    assert "lack theirs.New" in tell()[0]
    assert len(started) == 2


def test_where_nothing_can_be_remembered_it_is_built_each_time(
    tell: Tell, started: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [tell(), tell()] == [[], []]
    assert len(started) == 2


@pytest.mark.parametrize("provider", [HERE, "automl-admm 1.0", "automl-admm-boost 1.0"])
def test_what_no_child_can_find_and_what_is_ours_starts_none(
    tell: Tell, started: Any, provider: str
) -> None:
    assert tell(provider) == []
    assert started == []
