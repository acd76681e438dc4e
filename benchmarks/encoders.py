"""Categories of many levels, free text and tags: encoders side by side.

`one-hot` is a ColumnTransformer with the 32 most frequent levels, `target` one with scikit-learn's
TargetEncoder, `skrub` its TableVectorizer; all of them, and `first`, end in histogram boosting with
its defaults. `first` is the pipeline that a search with the default grammar starts at, `fit` the
estimator with nothing but a budget. The score is AUROC, for several classes accuracy, on rows that
none has seen; medians over the seeds.

    python benchmarks/encoders.py --seconds 20

Settings were chosen on the seeds 101 and 102. skrub is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from frames_tables import make_task
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

from automl_admm import AutoMLClassifier, InfeasibleError

SEEDS = (1, 2, 3)
FIRST = (
    "%import components (impute, hist_gradient_boosting)\nstart: impute hist_gradient_boosting\n"
)
Split = tuple[pd.DataFrame, Any, pd.DataFrame, Any]
System = Callable[[pd.DataFrame, Any], Any]

# --- tables --------------------------------------------------------------------------------------


def levels(count: int, rows: int, seed: int) -> Split:
    """One category, each level with an effect of its own, and two columns of noise."""
    rng = np.random.default_rng(seed)
    effects, places = rng.standard_normal(count), rng.integers(0, count, rows)
    X = pd.DataFrame({"city": [f"city {place}" for place in places]})
    X["a"], X["b"] = rng.standard_normal((2, rows))
    y = np.where(effects[places] + 0.3 * rng.standard_normal(rows) > 0, "yes", "no")
    return _split(X, y)


def many_classes(seed: int) -> Split:
    """683 rows of 35 categories with gaps and 19 classes, some of them rare."""
    rng = np.random.default_rng(seed)
    rows, columns, classes = 683, 35, 19
    y = rng.choice(classes, rows, p=rng.dirichlet(np.full(classes, 2.0)))
    made = {}
    for place in range(columns):
        size, spread = rng.integers(2, 8), rng.choice([2.0, 0.5, 0.2], p=[0.5, 0.3, 0.2])
        shares = [rng.dirichlet(np.full(size, spread)) for _ in range(classes)]
        made[f"c{place}"] = [f"level {rng.choice(size, p=shares[one])}" for one in y]
    X = pd.DataFrame(made)
    return _split(X.mask(rng.random(X.shape) < 0.1), np.array([f"class {one}" for one in y]))


def _split(X: pd.DataFrame, y: Any) -> Split:
    cut = len(X) * 3 // 4
    return X[:cut], y[:cut], X[cut:], y[cut:]


def framed(name: str, seed: int) -> Split:
    """A table of the other benchmark."""
    task = make_task(name, seed)
    return task.X_train, task.y_train, task.X_test, task.y_test


TABLES: Mapping[str, Callable[[int], Split]] = {
    "200 levels": partial(levels, 200, 8_000),
    "5 000 levels": partial(levels, 5_000, 40_000),
    "free text": partial(framed, "free text"),
    "tags": partial(framed, "tags in a text"),
    "19 classes": many_classes,
}

# --- systems -------------------------------------------------------------------------------------


def boosted(encoder: Any, X: pd.DataFrame, y: Any) -> Any:
    """Fit boosting behind an encoder of all columns but numbers."""
    columns = make_column_transformer(
        (encoder, make_column_selector(dtype_exclude="number")),
        remainder="passthrough",
        sparse_threshold=0,
    )
    return make_pipeline(columns, HistGradientBoostingClassifier(random_state=0)).fit(X, y)


def one_hot(X: pd.DataFrame, y: Any) -> Any:
    """Encode the 32 most frequent levels."""
    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=32, sparse_output=False
    )
    return boosted(encoder, X, y)


def target(X: pd.DataFrame, y: Any) -> Any:
    """Encode each level by its mean target."""
    return boosted(TargetEncoder(cv=KFold(5, shuffle=True, random_state=0)), X, y)


def skrub(X: pd.DataFrame, y: Any) -> Any:
    """Encode by skrub's guesses."""
    from skrub import TableVectorizer

    model = HistGradientBoostingClassifier(random_state=0)
    return make_pipeline(TableVectorizer(), model).fit(X, y)


def first(X: pd.DataFrame, y: Any) -> Any:
    """Fit the pipeline at which a search starts."""
    with tempfile.TemporaryDirectory() as folder:
        grammar = Path(folder) / "first.lark"
        grammar.write_text(FIRST)
        return AutoMLClassifier(grammar=grammar, max_evaluations=1, executor="inline").fit(X, y)


def search(seconds: float, X: pd.DataFrame, y: Any) -> Any:
    """Search with the default grammar."""
    scoring = "accuracy" if len(set(y)) > 2 else "roc_auc"
    return AutoMLClassifier(
        grammar="default", time_budget=seconds, scoring=scoring, random_state=0
    ).fit(X, y)


def score(model: Any, X: pd.DataFrame, y: Any) -> float:
    """Measure on unseen rows."""
    if len(model.classes_) > 2:
        return float(accuracy_score(y, model.predict(X)))
    return float(roc_auc_score(y == model.classes_[1], model.predict_proba(X)[:, 1]))


def score_of(fit: System, split: Split) -> float:
    """Fit and measure; nothing in time is no score."""
    X, y, X_test, y_test = split
    try:
        return score(fit(X, y), X_test, y_test)
    except InfeasibleError:
        return float("nan")


def measure(systems: Mapping[str, System], tables: Sequence[str], seeds: Sequence[int]) -> None:
    """Print a line for each table as soon as it is known."""
    print(f"{'':14}" + "".join(f"{name:>10}" for name in systems))
    for name in tables:
        made = [TABLES[name](seed) for seed in seeds]
        cells = [np.median([score_of(fit, split) for split in made]) for fit in systems.values()]
        print(f"{name:14}" + "".join(f"{cell:10.3f}" for cell in cells), flush=True)


def main() -> None:
    """Measure all systems that are here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    asked = parser.parse_args()
    systems: dict[str, System] = {"one-hot": one_hot, "target": target}
    if find_spec("skrub"):
        systems["skrub"] = skrub
    else:
        print("skrub is not installed: left out")
    systems |= {"first": first, f"fit {asked.seconds:g} s": partial(search, asked.seconds)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measure(systems, asked.tables, asked.seeds)


if __name__ == "__main__":
    main()
