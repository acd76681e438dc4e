"""An executor of a user's own that does not come back costs neither the program nor the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import PluginError
from automl_admm.core.protocols import Finished
from automl_admm.execution.inline_executor import InlineExecutor
from automl_admm.plugins.records import ExecutorSetting
from automl_admm.runs.driving import patience

SETTINGS: dict[str, Any] = {
    "cv": 2,
    "max_evaluations": 4,
    "theta_solver": "random",
    "random_state": 0,
    "ensemble": False,
}
X = pd.DataFrame({"a": np.random.default_rng(0).normal(size=60)})
Y = (X["a"] > 0).to_numpy()


class Forgetful(InlineExecutor):
    """Says that it works elsewhere, and hangs in one call once two evaluations have ended."""

    runs_here = False
    hangs_in = "wait"
    is_over = Event()

    def __init__(self, work: Any, setting: ExecutorSetting) -> None:
        super().__init__(work, setting)
        self.ended = 0

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        if self.ended == 2 and self.hangs_in == "wait":
            self.is_over.wait(60.0)
        found = super().wait(timeout)
        self.ended += len(found)
        return found

    def close(self) -> None:
        super().close()
        if self.hangs_in == "close":
            self.is_over.wait(60.0)


class Endless(Forgetful):
    """Hangs when the work is done."""

    hangs_in = "close"


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    # A fit of two folds takes less.
    monkeypatch.setattr(patience, "LONGEST", 3.0)
    monkeypatch.setattr(patience, "SHORT", 0.1)


def test_a_run_whose_executor_hangs_ends_and_is_gone_on_with(tmp_path: Path) -> None:
    search = AutoMLClassifier("tiny", executor=Forgetful, work_dir=tmp_path / "run", **SETTINGS)
    with pytest.raises(PluginError, match="`wait` has not come back"):
        search.fit(X, Y)
    search.set_params(executor="inline", warm_start=True).fit(X, Y)
    assert search.n_evaluations_ == 4
    assert search.predict(X).shape == (60,)


def test_a_model_is_there_although_the_executor_hangs_at_its_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    search = AutoMLClassifier("tiny", executor=Endless, **SETTINGS).fit(X, Y)
    assert search.predict(X).shape == (60,)
    assert "`close` has not come back" in caplog.text
