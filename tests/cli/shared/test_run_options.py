"""Options of a run on the command line: their help, and the texts that `--start` takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from automl_admm.cli.shared.run_options import FIT_OPTIONS, Start, run_option
from automl_admm.runs.options import Option


def read(text: str) -> str | Path:
    return Start().convert(text, None, None)


def test_a_text_has_a_parenthesis_and_anything_else_is_a_file(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert read("impute() ridge()") == "impute() ridge()"
    assert read("good.txt") == Path("good.txt")
    long = "impute() " * 100 + "ridge()"
    assert read(long) == long


def test_a_file_is_taken_as_one_whatever_its_name_is(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good (1).txt").write_text("impute() ridge()\n", "utf-8")
    assert read("good (1).txt") == Path("good (1).txt")


@pytest.mark.parametrize("option", FIT_OPTIONS, ids=lambda option: option.name)
def test_the_help_of_an_option_tells_one_default_at_most(option: Option) -> None:
    made = run_option(option)
    assert str(made.help).count("[default:") + bool(made.show_default) <= 1
