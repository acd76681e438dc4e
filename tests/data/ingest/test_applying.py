"""What an empty cell becomes, read by the facts of training."""

from __future__ import annotations

import numpy as np
import pandas as pd

from automl_admm.data.ingest.applying import blanks_of, take_in
from automl_admm.data.ingest.deciding import decide
from automl_admm.data.ingest.records import Ingest

ROWS = 200
RNG = np.random.default_rng(0)
WORDS = ["green", "blue", "fast", "slow", "heavy", "light"]
TABLE = pd.DataFrame(
    {
        "tick": np.where(RNG.random(ROWS) < 0.3, "yes", None),
        "truth": RNG.choice(["yes", "Y", "no"], ROWS),
        "day": pd.date_range("2020-01-01", periods=ROWS).astype(str),
        "lasts": [f"{n % 24}:{n % 60:02d}:{n % 59:02d}" for n in range(ROWS)],
        "level": RNG.choice(["low", "medium", "high"], ROWS),
        "temp": ["broken" if n % 15 == 0 else f"{n} kg" for n in range(ROWS)],
        "huge": RNG.normal(size=ROWS) * 1e35,
        "tags": [";".join(RNG.choice(list("abcdef"), 2)) for _ in range(ROWS)],
        "said": [" ".join(RNG.choice(WORDS, 5)) for _ in range(ROWS)],
        "mixed": [1 if n % 2 else "a" for n in range(ROWS)],
        "size": RNG.normal(size=ROWS),
        "code": RNG.integers(0, 5, ROWS),
    }
)


def test_an_empty_cell_is_a_value_in_some_made_columns() -> None:
    ingest = decide(TABLE, {"code": "category"})
    blanks = blanks_of(ingest)
    assert blanks == {"tick": False, "temp.broken": 0.0, "tags": "", "said": ""}
    # One of a later file is the same, beside others.
    later = TABLE.astype(object)
    later.iloc[0] = None
    made = take_in(later, ingest).made.iloc[0]
    assert {name: made[name] for name in made.index if not pd.isna(made[name])} == blanks


def test_plain_columns_have_missing_cells() -> None:
    assert blanks_of(decide(TABLE[["size"]], None)) == {}
    assert blanks_of(Ingest()) == {}
