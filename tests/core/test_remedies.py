"""One cause in both worlds: the line names what can be changed in the one that it is met in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.cli.main import main
from automl_admm.core.errors import AutomlAdmmError

SETTINGS: dict[str, Any] = {"grammar": "tiny", "cv": 2, "max_evaluations": 1, "executor": "inline"}
OPTIONS = {"--grammar": "tiny", "--cv": "2", "--max-evaluations": "1", "--executor": "inline"}
CASES = [
    (
        {"cv": 1},
        ("--cv", "1"),
        "1 is no way to split the rows.",
        ("a share between 0 and 1, a splitter, or pairs.", "or a share between 0 and 1."),
    ),
    (
        {"max_evaluations": 0},
        ("--max-evaluations", "0"),
        "the number of evaluations must be a whole number of at least 1, not 0.",
        ("", ""),
    ),
    (
        {"work_dir": "full"},
        ("--out", "full"),
        "the run folder 'full' is not empty.",
        ("Give a new work_dir.", "Give a new --out."),
    ),
    (
        {"theta_solver": "bo"},
        ("--theta-solver", "bo"),
        "'bo' is a z solver:",
        ("z_solver='bo'.", "--z-solver bo."),
    ),
    (
        {"certify": 0.95},
        ("--certify", "0.95"),
        "there is no limit to certify.",
        ('Give constraints, such as "fpr <= 0.05".', 'Give --constraint, such as "fpr <= 0.05".'),
    ),
    (
        {"group_thresholds": True},
        ("--group-thresholds",),
        "thresholds by group need a limit",
        ("leave out group_thresholds.", "leave out --group-thresholds."),
    ),
    (
        {"memory_limit": 10**21},
        ("--memory", f"{10**12}GB"),
        "is more than a machine can address.",
        ("Without memory_limit an evaluation", "Without --memory an evaluation"),
    ),
]


@pytest.mark.parametrize(("settings", "options", "cause", "remedies"), CASES)
def test_each_world_is_told_its_own_remedy(
    settings: dict[str, Any],
    options: tuple[str, ...],
    cause: str,
    remedies: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    frame = pd.DataFrame({"x": np.arange(60.0), "buys": np.resize(["no", "yes"], 60)})
    frame.to_csv("data.csv", index=False)
    with pytest.raises(AutomlAdmmError) as raised:
        AutoMLClassifier(**{**SETTINGS, **settings}).fit(frame[["x"]], frame["buys"])
    others = {**OPTIONS, "--out": "out"}.items()
    usual = [word for pair in others if pair[0] not in options for word in pair]
    with pytest.raises(SystemExit) as ended:
        main(["fit", "data.csv", "--target", "buys", "-q", *usual, *options])
    told = capsys.readouterr().err
    in_python, in_a_shell = remedies
    assert ended.value.code == raised.value.exit_code == 2
    assert cause in str(raised.value)
    assert cause in told
    assert in_python in str(raised.value)
    assert "--" not in str(raised.value)
    assert in_a_shell in told
