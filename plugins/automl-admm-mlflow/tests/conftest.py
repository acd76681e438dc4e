"""MLflow for tests: its warnings at import are its own, and its store is a file."""

from __future__ import annotations

import importlib
import os
import warnings
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def pyfunc() -> Any:
    """Import MLflow's models with the first test here: each worker collects all, and runs few."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("mlflow.pyfunc")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let MLflow and what it needs warn in tests of this folder."""
    # As a text: to take ten thousand paths apart takes a second.
    here = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store in a file of SQLite; to make one takes seconds."""
    return f"sqlite:///{tmp_path_factory.mktemp('mlflow') / 'mlflow.db'}"
