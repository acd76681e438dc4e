"""The progress of a search in Python: on stderr if it is asked for, else nothing at all."""

from __future__ import annotations

import sys
import threading

import pytest
from sklearn.datasets import load_iris

from automl_admm import AutoMLClassifier, InfeasibleError
from automl_admm.core.errors import ConfigurationError

QUICK = {
    "grammar": "tiny",
    "cv": 2,
    "max_evaluations": 2,
    "theta_solver": "random",
    "executor": "inline",
    "random_state": 0,
}


@pytest.mark.parametrize("level", [0, False])
def test_a_search_is_mute_by_default(level: int, capsys: pytest.CaptureFixture[str]) -> None:
    AutoMLClassifier(**QUICK, verbose=level).fit(*load_iris(return_X_y=True))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("level", [1, True, 2, 3])
def test_progress_is_on_stderr(level: int, capsys: pytest.CaptureFixture[str]) -> None:
    search = AutoMLClassifier(**QUICK, verbose=level).fit(*load_iris(return_X_y=True))
    shown, told = capsys.readouterr()
    assert shown == ""
    lines = [line for line in told.splitlines() if " of 2   " not in line]
    assert lines[0] == "150 rows, 4 columns, classification"
    assert lines[-3:] == [
        f"best pipeline  {search.best_text_}",
        f"validation     accuracy {search.best_score_:.4f}",
        "ended by       evaluations, after 2 evaluations (2 success)",
    ]
    assert len(lines) == (6 if level >= 2 else 4)


def test_the_end_says_that_limits_do_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    search = AutoMLClassifier(**QUICK, constraints=["size_mb <= 1e-9"], verbose=1)
    with pytest.raises(InfeasibleError):
        search.fit(*load_iris(return_X_y=True))
    assert ", NOT within the limits" in capsys.readouterr().err


def test_searches_in_threads_show_each_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    stream, found = sys.stderr, []

    def search() -> None:
        found.append(AutoMLClassifier(**QUICK, verbose=1).fit(X, y))

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert sys.stderr is stream
    assert capsys.readouterr().err.count("ended by       evaluations, after 2 evaluations") == 3


@pytest.mark.parametrize("level", ["yes", -1, 0.5, None])
def test_a_level_is_a_whole_number(level: object) -> None:
    with pytest.raises(ConfigurationError, match="verbose must be a whole number of at least 0"):
        AutoMLClassifier(**QUICK, verbose=level).fit(*load_iris(return_X_y=True))
