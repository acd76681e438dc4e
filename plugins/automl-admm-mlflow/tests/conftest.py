"""MLflow for tests: its warnings at import are its own, and its store is a file."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import mlflow.pyfunc
    from mlflow.tracking import MlflowClient

__all__ = ["MlflowClient", "mlflow"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let MLflow and what it needs warn in tests of this folder."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store in a file of SQLite; to make one takes seconds."""
    return f"sqlite:///{tmp_path_factory.mktemp('mlflow') / 'mlflow.db'}"
