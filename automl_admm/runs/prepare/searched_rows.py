"""Search large data on a share of their rows; the winner is fitted on all of them.

The share depends on the budget, not on the speed of the machine: the same budget gives the same
rows. A run with another budget that goes on with an earlier one keeps its rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from automl_admm.data.splits import Rows, Split
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.row_share import share_of_rows
from automl_admm.runs.config import RunConfig
from automl_admm.runs.options import FLAGS

# Cells that one evaluation learns from, for each second of the budget: `benchmarks/scale.py
# --rates` compares these numbers on generated tables.
CELLS_A_SECOND = 10_000
# A table that is not much larger is searched whole, and so is a small one in a short time.
SLACK = 1.25
FEWEST = 20_000
SEED = 0


def decide_searched(config: RunConfig, table: Table) -> RunConfig:
    """Return the settings with the number of rows to search on; None stands for all rows.

    A run without a budget of time evaluates on all rows, and so does one with `min_fidelity`.
    """
    is_decided = config.searched_rows is not None or config.min_fidelity is not None
    if is_decided or config.seconds is None:
        return config
    rows, columns = table.shape
    most = max(int(CELLS_A_SECOND * config.seconds / max(columns, 1)), FEWEST)
    return replace(config, searched_rows=most) if rows > SLACK * most else config


def thin(splits: tuple[Split, ...], table: Table, config: RunConfig) -> tuple[Split, ...]:
    """Return the same splits with a share of their rows; every class keeps its own.

    Limits are measured on all validation rows: a group in them may be small.
    """
    if config.searched_rows is None:
        return splits
    share = config.searched_rows / len(table.y)
    classes = None if table.classes is None else table.y

    def some(rows: Rows) -> Rows:
        return np.sort(share_of_rows(rows, classes, share, SEED))

    if config.constraints:
        return tuple((some(train), held) for train, held in splits)
    return tuple((some(train), some(held)) for train, held in splits)


def tell_searched(config: RunConfig, rows: int) -> str | None:
    """Say it in one line, if it is not all `rows`."""
    if config.searched_rows is None:
        return None
    part = f"searched on {config.searched_rows} of {rows} rows, the winner is fitted on all"
    return f"{part} ({FLAGS['min_fidelity']} 1 searches on all)"
