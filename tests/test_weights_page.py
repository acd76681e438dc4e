"""The snippets of docs/how_to/weights_groups_time.md run, and its figures are measured."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from automl_admm.api.estimators import AutoMLClassifier
from automl_admm.data.split_choice import REPEATS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how_to" / "weights_groups_time.md").read_text(encoding="utf-8")
SPLITS = (ROOT / "docs" / "benchmarks" / "splits.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_the_snippets_run_one_after_another(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _stay_in_this_process(monkeypatch)
    known: dict[str, Any] = {}
    for snippet in SNIPPETS:
        exec(snippet, known)  # noqa: S102 - what the page shows
    assert np.isfinite(known["scores"]).all()
    assert "at" in capsys.readouterr().out


def _stay_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the estimators of the snippets evaluate here: processes of their own cost seconds."""
    fit = AutoMLClassifier.fit

    def here(self: AutoMLClassifier, *given: Any, **named: Any) -> AutoMLClassifier:
        return fit(self.set_params(executor="inline"), *given, **named)

    monkeypatch.setattr(AutoMLClassifier, "fit", here)


def test_the_page_says_the_defaults() -> None:
    assert REPEATS == ((100, 3), (400, 2))
    assert "three times below 100\nrows, twice below 400, once from there on" in PAGE


@pytest.mark.parametrize(
    ("split", "share"), [("a quarter held out", 70), ("4 folds", 76), ("4 folds, 2 times", 82)]
)
def test_the_figures_of_the_page_were_measured(split: str, share: int) -> None:
    found = re.search(rf"^\| 120 \| {split} \| \d+ \| ([\d.]+) %", SPLITS, re.MULTILINE)
    assert found is not None
    assert float(found[1]) == pytest.approx(share, abs=0.51)
    assert f"{share} %" in PAGE
