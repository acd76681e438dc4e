"""A run whose plugin is not installed any more says which distribution it needs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from automl_admm.core.errors import UnknownNameError
from automl_admm.plugins.distributions import version_of
from automl_admm.runs.finish.model_notes import tell_missing
from automl_admm.runs.gone_plugins import telling_gone_plugins

LIMIT = """
from automl_admm.plugin_api import ConstraintPlugin, hookimpl


@hookimpl
def constraints():
    yield ConstraintPlugin(
        name="steps_used",
        summary="the number of steps",
        kind="checked",
        function=lambda evaluated: 2.0,
    )
"""
SEARCH = (
    "--grammar",
    "tiny",
    "--cv=2",
    "--max-evaluations",
    "2",
    "--executor",
    "inline",
    "--quiet",
)


@pytest.fixture(autouse=True)
def versions() -> Iterator[None]:
    """Leave no version of a distribution that comes and goes to other tests of this process."""
    version_of.cache_clear()
    yield
    version_of.cache_clear()


def uninstalled() -> None:
    place = next(
        Path(one) for one in sys.path if Path(one, "foreign_solver-1.0.dist-info").exists()
    )
    shutil.rmtree(place / "foreign_solver-1.0.dist-info")
    version_of.cache_clear()


def test_several_gone_distributions_are_told_as_several() -> None:
    gone, said = {"a": "lost 2", "b": "gone 1"}, r"gone 1, lost 2, which are .* install them"
    with pytest.raises(UnknownNameError, match=said), telling_gone_plugins({"plugins": gone}):
        raise UnknownNameError("metric", "mine", ())
    told = tell_missing({"versions": {"no-such-plugin": "1", "nor-this": "2"}})
    said = "It needs no-such-plugin 1, nor-this 2, and here they are not installed: install them."
    assert told == said


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "out", "people.csv"),
        ("resume", "out", "--max-evaluations", "+1"),
    ],
)
def test_the_distribution_behind_an_unknown_limit_is_named(
    command: tuple[str, ...], run: Any, install: Any, table: Path
) -> None:
    install(LIMIT)
    done = run(
        "fit", table, "--target", "buys", *SEARCH, "--constraint", "steps_used <= 3", "--out", "out"
    )
    assert done.code == 0, done.err
    uninstalled()
    done = run(*command)
    assert done.code == 2
    assert done.err.strip().splitlines()[-1] == (
        "error: no constraint named 'steps_used'. The run had foreign-solver 1.0, which is not "
        "installed here: install it."
    )
