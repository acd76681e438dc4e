"""Options of a run on the command line: their help, and the texts that `--start` takes."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from automl_admm.cli.shared.param_types import SHARE
from automl_admm.cli.shared.run_options import FIT_OPTIONS, Folds, Start, run_option
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


@pytest.mark.parametrize(
    ("said", "share"), [("0.95", 0.95), ("95%", 0.95), (" 95 % ", 0.95), ("2.5%", 0.025)]
)
def test_a_share_may_be_said_in_percent(said: str, share: float) -> None:
    assert SHARE.convert(said, None, None) == pytest.approx(share)
    assert Folds().convert(said, None, None) == pytest.approx(share)


@pytest.mark.parametrize("said", ["0,95", "%", "95 percent", ""])
def test_what_is_no_number_is_no_share(said: str) -> None:
    with pytest.raises(click.BadParameter, match=r"write a share as 0\.95 or 95%"):
        SHARE.convert(said, None, None)


def test_folds_in_percent_are_a_share_even_if_the_number_is_whole() -> None:
    assert isinstance(Folds().convert("3", None, None), int)
    assert isinstance(Folds().convert("300%", None, None), float)
