"""The snippets of docs/how_to/models_out.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier

PAGE = (Path(__file__).parents[1] / "docs" / "how_to" / "models_out.md").read_text(encoding="utf-8")
SNIPPETS = dict(
    re.findall(r"<!-- run: (\w+) -->\n```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
)


@pytest.fixture
def frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Rows, and a run on them in the folder RUN."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 9, 120), "city": rng.choice(["Ulm", "Bonn"], 120)})
    buys = np.where(frame["age"] + rng.normal(size=120) > 40, "yes", "no")
    few = {
        "grammar": "tiny",
        "cv": 2,
        "max_evaluations": 2,
        "executor": "inline",
        "random_state": 0,
    }
    AutoMLClassifier(work_dir="RUN", **few).fit(frame, buys)
    return frame


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("name", ["load", "skops"])
def test_a_snippet_of_python_predicts(frame: pd.DataFrame, name: str) -> None:
    known: dict[str, object] = {"frame": frame}
    exec(SNIPPETS[name], known)  # noqa: S102 - what the page shows
    model = known.get("model", known.get("pipeline"))
    assert set(model.predict(frame)) == {"no", "yes"}  # type: ignore[union-attr]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_service_predicts_and_refuses_in_a_line(frame: pd.DataFrame) -> None:
    pytest.importorskip("fastapi")
    from fastapi.exceptions import HTTPException

    known: dict[str, object] = {}
    exec(SNIPPETS["service"], known)  # noqa: S102 - what the page shows
    predict = known["predict"]
    assert callable(predict)
    assert predict([{"city": "Ulm", "age": 70}, {"age": "20", "city": None}]) == ["yes", "no"]
    with pytest.raises(HTTPException) as raised:
        predict([{"city": "Ulm", "age": "old"}])
    assert raised.value.status_code == 422
    assert "column 'age' holds 'old'" in str(raised.value.detail)
