"""The snippets of docs/reference/columns.md run as they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from messy_table import messy_table

import automl_admm
from automl_admm.cli.main import main
from automl_admm.data.ingest.asking import WORDS
from automl_admm.data.ingest.records import KINDS

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "columns.md").read_text(encoding="utf-8")
SNIPPETS = dict(
    re.findall(r"<!-- run: (\w+) -->\n```\w+\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
)
# Few evaluations in the place of a budget, so that nothing hangs on the speed of a machine.
FEW = {
    "--budget 30s": "--cv 2 --max-evaluations 1 --grammar tiny --executor inline",
    "time_budget=30": "cv=2, max_evaluations=1, grammar='tiny', executor='inline'",
}


def few(snippet: str) -> str:
    for said, short in FEW.items():
        snippet = snippet.replace(said, short)
    return snippet


@pytest.fixture
def frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    frame = messy_table().rename(columns={"number": "row"})
    frame["zip"] = np.random.default_rng(0).integers(10000, 10009, len(frame))
    frame.to_csv("visits.csv", index=False)
    return frame


def test_the_snippet_of_python_fits(
    frame: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(few(SNIPPETS["python"]), {"frame": frame})  # noqa: S102 - what the page shows
    said = capsys.readouterr().out
    assert re.search(r"zip +category", said)
    assert re.search(r"row +dropped", said)


def test_the_snippet_of_the_shell_runs(
    frame: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in few(SNIPPETS["shell"]).splitlines():
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(line)[1:])
        assert not ended.value.code
    said = capsys.readouterr()
    assert re.search(r"zip +category", said.out)
    assert "column 'price': numbers in text" in said.err
    (folder,) = Path("automl-runs").iterdir()
    assert len(automl_admm.load(folder).predict(frame)) == len(frame)


def test_the_page_names_every_kind() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE))
    assert rows == set(KINDS) - {"dropped"}
    assert all(
        word in PAGE.partition("Kinds to choose are")[2].partition("\n")[0] for word in WORDS
    )
