"""The command under Reproduction asks for the run again: `fit` reads it as it was."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from option_values import other_value
from report_runs import write_run

from automl_admm.cli.commands.fit import command as fit
from automl_admm.cli.shared.run_options import settings_given
from automl_admm.report.sections import reproduction
from automl_admm.report.view import read_view
from automl_admm.runs.option_record import Option
from automl_admm.runs.options import OPTIONS

ASKED = {"source": "data.csv", "looks": None, "extra_plugins": [], "only_python": []}
SAVED = tuple(option for option in OPTIONS if option.flag is not None and option.is_saved)


def written(run: Path) -> list[str]:
    command = reproduction.measure(read_view(run)).command
    assert command is not None
    return shlex.split(command)[2:]


def read_again(path: Path, name: str, value: Any) -> Any:
    """Return the value of an option that the command of a run with another one gives."""
    saved = list(value) if isinstance(value, tuple) else value
    run = write_run(path / "run", (), request=ASKED | {name: saved})
    return settings_given(fit.make_context("fit", written(run)).params)[name]


@pytest.mark.parametrize("option", SAVED, ids=lambda option: option.name)
def test_every_option_is_read_again_as_it_was(option: Option, tmp_path: Path) -> None:
    values = [other_value(option), option.default, option.assumed]
    for place, value in enumerate(one for one in values if one is not None):
        assert read_again(tmp_path / str(place), option.name, value) == value


@pytest.mark.parametrize("seconds", [0.1 + 0.2, 1e-7, 90.5, 1_234_567.0, 1e17])
def test_seconds_are_read_again_whatever_their_size(seconds: float, tmp_path: Path) -> None:
    assert read_again(tmp_path, "time_budget", seconds) == seconds


def test_a_run_without_rows_held_out_asks_for_none(tmp_path: Path) -> None:
    none, default = ASKED | {"test_size": 0.0}, ASKED | {"test_size": 0.2}
    assert "--test-size" in written(write_run(tmp_path / "none", (), request=none))
    assert "--test-size" not in written(write_run(tmp_path / "default", (), request=default))
