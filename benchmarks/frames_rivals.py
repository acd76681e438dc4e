"""One system on one table or file: fit, predict unseen rows, print the score as JSON.

The driver `frames.py` starts it in the environment of each system, in a process of its own:

    python benchmarks/frames_rivals.py --system plain --frame "free text" --seed 0
    python benchmarks/frames_rivals.py --system ours --file "tabs" --seed 0 --seconds 10
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from frames_files import write_files
from frames_tables import make_task
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score

TARGET = "target"
LONGEST = 300


@dataclass(frozen=True)
class Problem:
    """Rows to learn from and rows to predict; `kind` is that of the target."""

    X: Any
    y: Any
    X_test: Any
    kind: str
    seconds: float


@dataclass(frozen=True)
class Answer:
    """Predicted values, or one column of probabilities for each class."""

    predicted: Any
    classes: Any = None
    said: str = ""


# --- systems -------------------------------------------------------------------------------------


def ours(problem: Problem) -> Answer:
    """Fit this package's estimator with nothing but a budget."""
    from automl_admm import AutoMLClassifier, AutoMLRegressor

    kind = AutoMLRegressor if problem.kind == "regression" else AutoMLClassifier
    search = kind(time_budget=problem.seconds, n_jobs=1, random_state=0)
    answer = _answer_of(search.fit(problem.X, problem.y), problem)
    members = 1 if search.ensemble_ is None else len(search.ensemble_["members"])
    said = f"{search.best_text_}, {members} in the model, {search.n_evaluations_} evaluations"
    return replace(answer, said=said)


def plain(problem: Problem) -> Answer:
    """Fit what a careful user writes in ten lines of scikit-learn."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=32, sparse_output=False
    )
    columns = make_column_transformer(
        ("passthrough", make_column_selector(dtype_include="number")),
        (encoder, make_column_selector(dtype_exclude="number")),
        sparse_threshold=0,
    )
    is_quantity = problem.kind == "regression"
    kind = HistGradientBoostingRegressor if is_quantity else HistGradientBoostingClassifier
    return _answer_of(
        make_pipeline(columns, kind(random_state=0)).fit(problem.X, problem.y), problem
    )


def skrub(problem: Problem) -> Answer:
    """Fit skrub's pipeline for any table: its TableVectorizer and histogram boosting."""
    from skrub import tabular_pipeline

    kind = "regressor" if problem.kind == "regression" else "classifier"
    return _answer_of(tabular_pipeline(kind).fit(problem.X, problem.y), problem)


def flaml(problem: Problem) -> Answer:
    """Fit FLAML within the same time."""
    from flaml import AutoML

    search = AutoML()
    metric = {"binary": "roc_auc", "multiclass": "accuracy", "regression": "r2"}[problem.kind]
    search.fit(
        problem.X,
        problem.y,
        task="regression" if problem.kind == "regression" else "classification",
        time_budget=problem.seconds,
        metric=metric,
        n_jobs=1,
        seed=1,
        verbose=0,
    )
    return _answer_of(search, problem)


def autogluon(problem: Problem) -> Answer:
    """Fit AutoGluon's default within the same time."""
    from autogluon.tabular import TabularPredictor

    metric = {"binary": "roc_auc", "multiclass": "accuracy", "regression": "r2"}[problem.kind]
    train = problem.X.assign(**{TARGET: np.asarray(problem.y)})
    with tempfile.TemporaryDirectory() as folder:
        predictor = TabularPredictor(TARGET, eval_metric=metric, path=folder, verbosity=0)
        predictor.fit(train, time_limit=problem.seconds, num_cpus=1)
        if problem.kind == "regression":
            return Answer(predictor.predict(problem.X_test).to_numpy())
        probabilities = predictor.predict_proba(problem.X_test)
        return Answer(probabilities.to_numpy(), list(probabilities.columns))


SYSTEMS: dict[str, Callable[[Problem], Answer]] = {
    "ours": ours,
    "plain": plain,
    "skrub": skrub,
    "FLAML": flaml,
    "AutoGluon": autogluon,
}


def _answer_of(fitted: Any, problem: Problem) -> Answer:
    if problem.kind == "regression":
        return Answer(fitted.predict(problem.X_test))
    if problem.kind == "binary" and not hasattr(fitted, "predict_proba"):
        scores = fitted.decision_function(problem.X_test)
        return Answer(np.column_stack([-scores, scores]), list(fitted.classes_))
    return Answer(fitted.predict_proba(problem.X_test), list(fitted.classes_))


# --- files ---------------------------------------------------------------------------------------

READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".parquet": pd.read_parquet,
    ".feather": pd.read_feather,
    ".jsonl": lambda path: pd.read_json(path, lines=True),
    ".json": pd.read_json,
    ".tsv": lambda path: pd.read_csv(path, sep="\t"),
}


def read_plainly(path: Path) -> pd.DataFrame:
    """Read a file as users do: by its suffix, with pandas and nothing but the path."""
    return READERS.get(path.suffix, pd.read_csv)(path)


def file_problem(train: Path, test: Path, seconds: float) -> Problem:
    """Read both files of a task."""
    frame = read_plainly(train)
    return Problem(frame.drop(columns=TARGET), frame[TARGET], read_plainly(test), "binary", seconds)


def answer_on_the_command_line(train: Path, test: Path, seconds: float) -> tuple[Answer, str]:
    """Fit and predict by this package's commands, each a process of its own."""
    run, predictions = train.parent / "run", train.parent / "predictions.csv"
    command = [sys.executable, "-m", "automl_admm"]
    budget = ["--budget", f"{seconds:g}s", "--workers", "1", "--out", str(run)]
    said = _called([*command, "fit", str(train), "--target", TARGET, *budget])
    _called([*command, "predict", str(run), str(test), "-o", str(predictions)])
    found = pd.read_csv(predictions)
    return Answer(_probabilities(found), ["no", "yes"]), said


def _probabilities(found: pd.DataFrame) -> Any:
    likely = [column for column in found.columns if "yes" in column]
    if likely:
        yes = found[likely[0]].to_numpy(float)
    else:
        yes = (found.iloc[:, 0] == "yes").to_numpy(float)
    return np.column_stack([1 - yes, yes])


def _called(command: list[str]) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"exit code {ended.returncode}: {ended.stderr.strip()[-LONGEST:]}")
    return ended.stdout + ended.stderr


# --- scores --------------------------------------------------------------------------------------


def score(answer: Answer, truth: Any, kind: str) -> float:
    """Return AUROC for two classes, accuracy for several, R² for quantities."""
    if kind == "regression":
        return float(r2_score(truth, answer.predicted))
    if kind == "binary":
        likely = np.asarray(answer.predicted)[:, _place_of_yes(answer)]
        return float(roc_auc_score(np.asarray(truth) == "yes", likely))
    decided = np.asarray(list(map(str, answer.classes)))[np.argmax(answer.predicted, axis=1)]
    return float(accuracy_score(np.asarray(truth).astype(str), decided))


def _place_of_yes(answer: Answer) -> int:
    return [str(one) for one in answer.classes].index("yes")


def run_frame(system: str, name: str, seed: int, seconds: float) -> dict[str, Any]:
    """Return the score of a system on a table in memory."""
    task = make_task(name, seed)
    kind = "regression" if task.is_regression else "binary"
    if not task.is_regression and task.y_train.nunique() > 2:
        kind = "multiclass"
    problem = Problem(task.X_train, task.y_train, task.X_test, kind, seconds)
    answer = SYSTEMS[system](problem)
    found = {"score": score(answer, task.y_test, kind)}
    return {**found, "said": answer.said} if answer.said else found


def version_of(system: str) -> str:
    """Return what tells a system: the commit of this package, the versions of others."""
    if system == "ours":
        here = Path(__file__).parent
        asked = ["git", "-C", str(here), "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        has_boosters = find_spec("lightgbm") is not None
        return f"{commit}{'' if has_boosters else ' without boosters'}"
    package = {"autogluon": "autogluon.tabular", "plain": "scikit-learn"}
    return metadata.version(package.get(system.lower(), system.lower()))


def run_file(system: str, name: str, seed: int, seconds: float) -> dict[str, Any]:
    """Return the score of a system on a file."""
    with tempfile.TemporaryDirectory() as folder:
        written = write_files(name, seed, Path(folder))
        if system == "ours":
            answer, said = answer_on_the_command_line(written.train, written.test, seconds)
            said = next(iter(said.splitlines()), "")
            return {"score": score(answer, written.truth, "binary"), "said": said}
        problem = file_problem(written.train, written.test, seconds)
        return {"score": score(SYSTEMS[system](problem), written.truth, "binary")}


def main() -> None:
    """Run one system once; whatever it raises is its answer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--system", choices=sorted(SYSTEMS), required=True)
    parser.add_argument("--frame")
    parser.add_argument("--file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10.0)
    asked = parser.parse_args()
    begun = time.monotonic()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            if asked.file is None:
                found = run_frame(asked.system, asked.frame, asked.seed, asked.seconds)
            else:
                found = run_file(asked.system, asked.file, asked.seed, asked.seconds)
        except Exception as problem:  # noqa: BLE001 - a refusal is a result
            found = {"error": f"{type(problem).__name__}: {problem}"[:LONGEST]}
    texts = dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in heard)
    found["said"] = "\n".join(filter(None, [found.get("said"), *texts]))[: 10 * LONGEST]
    found["version"] = version_of(asked.system)
    found["wall"] = round(time.monotonic() - begun, 1)
    sys.stdout.write("RESULT " + json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
