"""Write the tables that the portfolio is learned from as the CSV and JSON files of a data folder.

`python -m benchmarks.peers --data all` leaves out those that were learned from. Beside the tables
that scikit-learn generates they come from packages, so this runs in the environment `data` that
`python -m benchmarks.peers --install` makes:

    PYTHONPATH=benchmarks FOLDER/data/bin/python -m portfolio.tables OUT

A table is cut to 1 200 rows, so that learning takes minutes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from peers.processes.package_sets import TARGET, Chosen, sets_of
from sklearn import datasets

MOST_ROWS = 1200
BUNDLED = ("breast_cancer", "wine", "iris", "diabetes")
OF_R = (
    Chosen("modeldata", "credit_data", "Status", "bad"),
    Chosen("modeldata", "lending_club", "Class", "bad"),
    Chosen("modeldata", "mlc_churn", "churn", "yes"),
    Chosen("modeldata", "wa_churn", "churn", "Yes"),
    Chosen("modeldata", "ad_data", "Class", "Impaired"),
    Chosen("modeldata", "hpc_data", "class"),
    Chosen("modeldata", "penguins", "species"),
    Chosen("modeldata", "car_prices", "Price"),
    Chosen("modeldata", "Sacramento", "price"),
    Chosen("modeldata", "solubility_test", "solubility"),
    Chosen("modeldata", "pd_speech", "class", "PD"),
    Chosen("modeldata", "hepatic_injury_qsar", "class"),
    Chosen("modeldata", "permeability_qsar", "permeability"),
    Chosen("dslabs", "tissue_gene_expression", "y"),
    Chosen("ISLR", "Caravan", "Purchase", "Yes"),
    Chosen("ISLR", "OJ", "Purchase", "MM"),
    Chosen("ISLR", "Wage", "wage", dropped=("logwage",)),
    Chosen("ISLR", "Hitters", "Salary"),
    Chosen("ISLR", "College", "Grad.Rate"),
    Chosen("ISLR", "Carseats", "Sales"),
    Chosen("ggplot2", "diamonds", "price"),
    Chosen("MASS", "Boston", "medv"),
    Chosen("Ecdat", "Computers", "price"),
)
OF_KEEL = {
    "pima": "tested_positive",
    "magic": "g",
    "ring": "1",
    "mammographic": "1",
    "crx": "+",
    "tic-tac-toe": "positive",
    "bands": "band",
    "letter": None,
    "penbased": None,
    "satimage": None,
    "texture": None,
    "led7digit": None,
    "contraceptive": None,
    "marketing": None,
}


def generated() -> Iterator[tuple[str, Any, Any, str]]:
    """Yield the name, columns, target and task of each table that scikit-learn makes."""
    X, y = datasets.make_hastie_10_2(1200, random_state=0)
    yield "hastie", X, (y > 0).astype(int), "binary"
    yield "moons", *datasets.make_moons(800, noise=0.35, random_state=0), "binary"
    made = {"random_state": 0, "n_redundant": 10, "flip_y": 0.05}
    X, y = datasets.make_classification(500, 200, n_informative=12, class_sep=0.7, **made)
    yield "wide", X, y, "binary"
    X, y = datasets.make_classification(
        500, 40, n_informative=15, n_classes=19, n_clusters_per_class=1, class_sep=2.0, **made
    )
    yield "classes_19", X, y, "multiclass"
    X, y = datasets.make_classification(
        1200, 30, n_informative=10, n_classes=8, n_clusters_per_class=2, class_sep=1.5, **made
    )
    yield "classes_8", X, y, "multiclass"
    yield "friedman_1", *datasets.make_friedman1(800, 15, noise=1.0, random_state=0), "regression"
    yield "friedman_2", *datasets.make_friedman2(500, noise=80.0, random_state=0), "regression"
    yield "friedman_3", *datasets.make_friedman3(1000, noise=0.2, random_state=0), "regression"
    X, y = datasets.make_regression(
        300, 120, n_informative=15, noise=40.0, effective_rank=60, tail_strength=0.6, random_state=0
    )
    yield "low_rank", X, y, "regression"


def wide() -> Iterator[tuple[str, Any, Any, str]]:
    """Yield generated tables with more columns than rows.

    A few of independent columns count, or a few hidden factors that many columns share.
    """
    random = np.random.default_rng(2)
    X = random.standard_normal((160, 700))
    noise = random.logistic(size=160)
    yield "wide_few", X, (2.0 * X[:, :6].sum(axis=1) + noise > 0).astype(int), "binary"
    factors, X = _of_factors(random, 140, 600)
    noise = random.logistic(size=140)
    yield "wide_factors", X, (3.0 * factors[:, :3].sum(axis=1) + noise > 0).astype(int), "binary"
    X = random.standard_normal((180, 600))
    quantity = X[:, :8].sum(axis=1) + random.standard_normal(180)
    yield "wide_few_quantity", X, quantity, "regression"
    factors, X = _of_factors(random, 140, 700)
    quantity = factors[:, :3].sum(axis=1) + 0.5 * random.standard_normal(140)
    yield "wide_factors_quantity", X, quantity, "regression"


def _of_factors(random: np.random.Generator, rows: int, columns: int) -> tuple[Any, Any]:
    """Return ten hidden factors, and columns that mix some of them with noise."""
    factors = random.standard_normal((rows, 10))
    loads = random.standard_normal((10, columns)) * (random.random((10, columns)) < 0.2)
    return factors, factors @ loads + random.standard_normal((rows, columns))


def with_categories(X: Any, y: Any, columns: int, levels: int, seed: int) -> pd.DataFrame:
    """Return a table with some columns cut into named levels, and a gap in every twentieth cell."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
    for name in frame.columns[:columns]:
        codes = pd.qcut(frame[name], levels, labels=False)
        names = random.permutation(levels)
        frame[name] = [f"level{names[code]}" for code in codes]
    frame = frame.mask(random.random(frame.shape) < 0.05)
    return frame.assign(**{TARGET: y})


def with_levels() -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Yield generated tables with categories and gaps."""
    made = {"random_state": 1, "n_informative": 8, "n_redundant": 4, "flip_y": 0.05}
    X, y = datasets.make_classification(1200, 20, **made)
    yield "levels_2", with_categories(X, y, 10, 8, 0), "binary"
    X, y = datasets.make_classification(1200, 16, n_classes=5, class_sep=1.5, **made)
    yield "levels_5", with_categories(X, y, 8, 6, 1), "multiclass"
    X, y = datasets.make_friedman1(1000, 12, noise=1.0, random_state=1)
    yield "levels_of_numbers", with_categories(X, y, 6, 12, 2), "regression"


def all_tables() -> Iterator[tuple[str, pd.DataFrame, dict[str, Any]]]:
    """Yield the name, the table and the description of each."""
    yield from sets_of(BUNDLED, OF_R, OF_KEEL)
    for name, X, y, task in chain(generated(), wide()):
        frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
        yield name, frame.assign(**{TARGET: y}), {"target": TARGET, "task": task}
    for name, frame, task in with_levels():
        yield name, frame, {"target": TARGET, "task": task}


def main() -> None:
    """Write all tables to the folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame, facts in all_tables():
        kept = frame.sample(min(MOST_ROWS, len(frame)), random_state=0)
        kept.to_csv(folder / f"{name}.csv", index=False)
        about = {key: facts[key] for key in ("target", "task")}
        (folder / f"{name}.json").write_text(json.dumps(about), encoding="utf-8")


if __name__ == "__main__":
    main()
