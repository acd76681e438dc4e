"""Warnings of the package's log on the command line."""

from __future__ import annotations

import logging

import pytest

from automl_admm.cli.main import printing_warnings
from automl_admm.cli.shared.progress import command_progress

LOG = logging.getLogger("automl_admm.somewhere")


def test_warnings_are_lines_that_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    with printing_warnings():
        LOG.warning("the %s are back\nand \x1b[31mred", "evaluations")
        LOG.info("nothing")
    assert capsys.readouterr().err == "warning: the evaluations are back\\nand \\x1b[31mred\n"
    assert not logging.getLogger("automl_admm").handlers


@pytest.mark.parametrize("quiet", [True, False])
def test_a_warning_is_one_line_whoever_shows_the_progress(
    quiet: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with printing_warnings():
        with command_progress(quiet=quiet, verbose=False):
            LOG.warning("within")
        LOG.warning("after")
    assert capsys.readouterr().err == "warning: within\nwarning: after\n"
