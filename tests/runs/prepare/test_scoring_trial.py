"""The metric is tried on every validation part before the search."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import prepare


def test_a_quantity_on_parts_of_one_row_has_no_classes_to_blame() -> None:
    values = np.linspace(0.0, 1.0, 8)
    config = RunConfig(task="regression", grammar="tiny", cv=5, max_evaluations=1)
    with pytest.raises(DataError) as caught:
        prepare(config, pd.DataFrame({"a": values}), pd.Series(values**2, name="y"))
    assert "metric 'r2' is nan on 1 validation row. Give more rows" in str(caught.value)
