"""What the distribution provides can be used by name, as any user would."""

import subprocess
import sys
from pathlib import Path

import pytest
from one_plus_one import Options

from automl_admm.plugin_api import Parameter, SearchSpace
from automl_admm.testing.searches import AutoMLClassifier, minimize

GRAMMAR = Path(__file__).parents[1] / "grammar.lark"


def test_the_solver_minimises():
    space = SearchSpace(parameters=(Parameter("x", 0, 1), Parameter("n", 1, 64, kind="int")))

    def objective(values):
        return (values["x"] - 0.3) ** 2 + ((values["n"] - 20) / 64) ** 2

    result = minimize(
        objective,
        space,
        theta_solver="one-plus-one:step=0.3",
        strategy="joint",
        max_evaluations=60,
        random_state=0,
    )
    assert result.loss < 0.01


def test_senseless_options_are_refused():
    with pytest.raises(ValueError, match="step must lie above 0"):
        Options(step=0)


def test_the_component_and_the_limit_serve_a_search():
    datasets = pytest.importorskip("sklearn.datasets")
    X, y = datasets.load_iris(return_X_y=True, as_frame=True)
    search = AutoMLClassifier(
        grammar=str(GRAMMAR),
        constraints=["columns_used <= 3"],
        theta_solver="one-plus-one",
        max_evaluations=40,
        random_state=0,
    )
    search.fit(X, y)
    assert any("batch_pca(" in pipeline for pipeline in search.cv_results_["pipeline"])
    assert max(search.cv_results_["columns_used"]) > 3
    assert search.best_pipeline_[-1].n_features_in_ <= 3


def test_the_command_line_knows_it():
    command = [sys.executable, "-m", "automl_admm", "plugins", "show", "one-plus-one"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "from one-plus-one 0.1.0" in done.stdout
    assert "step" in done.stdout
