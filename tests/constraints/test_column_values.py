"""A function of scores and a column of numbers, on rows of which some have none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.constraints.column_values import OfColumn
from automl_admm.core.evidence import RankCorrelation


def test_a_correlation_counts_no_row_without_a_number() -> None:
    ages = pd.Series([40.0, None, 20.0, np.nan], dtype="Float64")
    rows: Any = SimpleNamespace(sensitive=pd.DataFrame({"age": ages}))
    right = OfColumn(lambda _, numbers: RankCorrelation(0.1, np.isfinite(numbers).sum()), "age")
    assert right(rows).rows == 2
    wrong = OfColumn(lambda _, numbers: RankCorrelation(0.1, len(numbers)), "age")
    with pytest.raises(ValueError, match=r"counts 4 rows .* 2 have a number"):
        wrong(rows)
