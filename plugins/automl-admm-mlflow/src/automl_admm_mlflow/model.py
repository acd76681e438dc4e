"""The model of a run as an MLflow model: its files, read as `automl-admm predict` does."""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

import mlflow.pyfunc

from automl_admm.plugin_api import load

# All that a model needs of its run's folder.
FILES = ("model.skops", "model.json")
DISTRIBUTIONS = ("automl-admm", "automl-admm-mlflow", "scikit-learn")
# No distribution, though the manifest has its version.
PYTHON = "python"


def save_model(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Save the model of a run folder as an MLflow model at a path that is not there yet."""
    model = load(folder)  # a damaged one, or one with types that nobody trusts, is refused here
    with tempfile.TemporaryDirectory(prefix="automl-admm-mlflow-") as place:
        data = Path(place) / "run"
        data.mkdir()
        for name in FILES:
            shutil.copyfile(Path(folder) / name, data / name)
        mlflow.pyfunc.save_model(
            path,
            loader_module="automl_admm_mlflow.model",
            data_path=str(data),
            pip_requirements=_requirements(model.description),
            metadata=_description(model.description),
        )


def _requirements(manifest: Any) -> list[str]:
    """Return what the model needs, as installed here: it has just been loaded."""
    names = {*DISTRIBUTIONS, *manifest["versions"]} - {PYTHON}
    return [f"{name}=={_version(name, manifest['versions'])}" for name in sorted(names)]


def _version(name: str, known: Any) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return str(known[name])


def _description(manifest: Any) -> dict[str, Any]:
    names = ("pipeline", "task", "metric", "validation_score", "feasible", "certified", "columns")
    return {name: manifest[name] for name in names if name in manifest}


def _load_pyfunc(path: str) -> Predictor:
    """Return the model for `mlflow.pyfunc.load_model`, which calls this function by its name."""
    return Predictor(load(path))


class Predictor:
    """The `predict` of a model: raw rows in, labels or numbers out."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def predict(self, data: Any, params: Any = None) -> Any:
        """Predict rows; they may have their columns in any order, and no others are read."""
        del params
        return self._model.predict(data)
