"""The work of a run, as this process and as others have it."""

from __future__ import annotations

import cloudpickle
from sklearn.datasets import load_iris

from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import prepare


def test_components_are_those_of_the_run_here_and_loaded_anew_elsewhere() -> None:
    config = RunConfig("tiny", cv=2, max_evaluations=1, executor="inline")
    prepared = prepare(config, *load_iris(return_X_y=True))
    here = prepared.work.load_components()
    assert here is prepared.plugins.components["classification"]
    there = cloudpickle.loads(cloudpickle.dumps(prepared.work)).load_components()
    assert there is not here
    assert [record.name for record in there] == [record.name for record in here]
