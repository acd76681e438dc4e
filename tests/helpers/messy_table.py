"""A table as people have them: every column holds its signal in a form of its own."""

from __future__ import annotations

import numpy as np
import pandas as pd

ROWS = 240
WORDS = ("good", "bad", "fine", "awful", "nice", "day", "night", "plot", "song", "road")


def messy_table(rows: int = ROWS, seed: int = 5) -> pd.DataFrame:
    """Return the table as text, with the target `bought`."""
    rng = np.random.default_rng(seed)
    price, when = (
        rng.uniform(1, 9999, rows),
        pd.date_range("2021-03-01 08:00", periods=rows, freq="13h"),
    )
    frame = pd.DataFrame(
        {
            "number": np.arange(rows),
            "price": [f"${one:,.2f}" for one in price],
            "share": [f"{one:.1f}%" for one in rng.uniform(0, 100, rows)],
            "when": when.strftime("%d.%m.%Y %H:%M"),
            "took": [f"{one // 60}:{one % 60:02d}" for one in rng.integers(70, 1400, rows)],
            "agreed": rng.choice(["yes", "No", "Y", "n"], rows),
            "size": rng.choice(["small", "medium", "large"], rows),
            "skills": [";".join(sorted(rng.choice(list("abcdef"), 2))) for _ in range(rows)],
            "review": [" ".join(rng.choice(WORDS, 14)) for _ in range(rows)],
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], rows),
            "height": rng.normal(170, 9, rows).round(1),
            "same": "x",
        }
    )
    frame["bought"] = np.where(price + 2000 * (frame["city"] == "Ulm") > 5500, "yes", "no")
    frame.loc[::17, "price"] = "n.d."
    frame.loc[::19, "when"] = None
    frame.loc[::11, "height"] = np.nan
    return frame


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the same values in types of their own, as Parquet and Python may have them.

    Numbers with a sign stay text: without it their unit could not be told.
    """
    return frame.assign(
        when=pd.to_datetime(frame["when"], format="%d.%m.%Y %H:%M"),
        agreed=frame["agreed"].str.lower().str.startswith("y"),
        size=frame["size"].astype("category"),
    )
