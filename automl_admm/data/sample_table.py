"""The shipped table, for trials without own data.

`german_credit.csv` is the Statlog German credit data set: 1 000 people who asked a bank for
credit, and whether they turned out a good or a bad risk. Source: Hofmann, H. (1994), Statlog
(German Credit Data), UCI Machine Learning Repository, https://doi.org/10.24432/C5NC77, in the
form of OpenML 31, licence CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/). Changed:
`sex` was made a column of its own, taken from `personal_status`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from automl_admm.data.reading.tables import read_table

if TYPE_CHECKING:
    import pandas as pd

SHIPPED = "german_credit"
TARGET = "class"


def shipped_table() -> tuple[pd.DataFrame, str]:
    """Read the shipped table; return it with the name of its target."""
    return read_table(Path(__file__).with_name("german_credit.csv")), TARGET
