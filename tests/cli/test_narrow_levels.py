"""Categories in narrow floats: the same values in Parquet, and in a CSV file of the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from certified_rows import told

from automl_admm.cli.main import main

DRAWN = np.random.default_rng(0)
SHARE = DRAWN.choice([0.1, 0.2, 0.3, 0.7], 300)
ROWS = pd.DataFrame(
    {
        "share": SHARE.astype("float32"),
        "noise": DRAWN.normal(size=300),
        "y": np.where(np.isin(SHARE, [0.1, 0.3]), "p", "q"),
    }
)
FIT = ("--target", "y", "--max-evaluations", "2", "--grammar", "tiny", "--executor", "inline")
LIMIT = ("--quiet", "--no-ensemble", "--constraint", "error <= 0.5", "--certify", "0.9")
NULLABLE = ROWS.assign(share=ROWS["share"].where(ROWS.index > 4)).astype({"share": "Float32"})
ARROW = ROWS.astype({"share": pd.ArrowDtype(pa.float32())})
AS = {
    "asked": ROWS,
    "pandas": ROWS.astype({"share": "category"}),
    "asked nullable": NULLABLE,
    "pandas nullable": NULLABLE.astype({"share": "category"}),
    "asked arrow": ARROW,
    "pandas arrow": ARROW.astype({"share": "category"}),
}
ASKED = ("--column", "share=category")
CSV = "rows.csv"


@pytest.fixture(scope="module", params=AS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certified run on Parquet, with its rows as CSV beside it."""
    folder = tmp_path_factory.mktemp("narrow")
    AS[request.param].to_parquet(folder / "rows.parquet")
    has_gaps = "nullable" in request.param
    (NULLABLE.astype({"share": "float32"}) if has_gaps else ROWS).to_csv(folder / CSV, index=False)
    asked = ASKED if "asked" in request.param else ()
    more = (*FIT, *LIMIT, *asked, "--out", folder / "run")
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in ("fit", folder / "rows.parquet", *more)])
    assert ended.value.code == 0
    return folder


def test_predictions_are_the_same_by_either_file(run: Path, capsys: Any) -> None:
    predicted = []
    for file in ("rows.parquet", CSV):
        code, said = told(capsys, "predict", run / "run", run / file, "-o", run / "said.csv")
        assert code == 0, said
        assert "no training row had" not in said
        predicted.append(pd.read_csv(run / "said.csv"))
    pd.testing.assert_frame_equal(*predicted)


@pytest.mark.parametrize("file", ["rows.parquet", CSV])
def test_rows_of_the_run_are_not_fresh(run: Path, file: str, capsys: Any) -> None:
    code, said = told(capsys, "verify", run / "run", run / file, "--fresh")
    assert code == 3, said
    assert "300 of the 300 rows" in said
    code, said = told(capsys, "verify", run / "run", run / file)
    assert code == 0, said
