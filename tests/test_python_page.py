"""The snippets of docs/how_to/python.md run in their order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

pytestmark = pytest.mark.usefixtures("quick_servers")

PAGE = (Path(__file__).parents[1] / "docs" / "how_to" / "python.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def shortened() -> list[str]:
    """Return the snippets with shorter searches.

    The last one fits four times. The children of a search are seen in the first.
    """
    shorter = SNIPPETS.copy()
    shorter[0] = SNIPPETS[0].replace("max_evaluations=12", "max_evaluations=3, cv=2")
    here = 'executor="inline", cv=2, '
    shorter[-2] = SNIPPETS[-2].replace("max_evaluations=2,", f"max_evaluations=2, {here}")
    shorter[-1] = SNIPPETS[-1].replace('"tiny", ', f'"tiny", {here}', 1)
    assert all(shorter[place] != SNIPPETS[place] for place in (0, -2, -1))
    return shorter


def test_the_snippets_run_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(40, 9, 160), "city": rng.choice(["Ulm", "Bonn"], 160)})
    y = np.where(X["age"] + rng.normal(size=160) > 40, "yes", "no")
    known: dict[str, Any] = {
        "X_train": X[:120],
        "y_train": y[:120],
        "X_test": X[120:],
        "y_test": y[120:],
    }
    assert len(SNIPPETS) == 7
    with mpl.rc_context({"backend": "Agg"}):
        for snippet in shortened():
            exec(snippet, known)  # noqa: S102 - what the page shows, but for its length
        plt.close("all")
    assert "ended by" in capsys.readouterr().err
    assert known["board"]["rank"][0] == 1
    assert "clip(most=" in known["own"].best_text_
    assert known["importances"].index[0] == "age"
    assert (tmp_path / "importances.png").exists()
    assert known["scores"]["test_roc_auc"].min() > 0.8
    assert known["calibrated"].score(known["X_test"], known["y_test"]) > 0.8
