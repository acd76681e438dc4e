from __future__ import annotations

import hashlib
import json
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from skops.io import dumps, get_untrusted_types

from automl_admm.builtin.components.trusted import BY_COMPONENT
from automl_admm.core.errors import DataError, StoreError
from automl_admm.core.structure.pipeline_space import Step
from automl_admm.pipelines.build import build_pipeline, fit_pipeline
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import TASKS, BuildContext, ComponentPlugin, LearningTask
from automl_admm.plugins.specs import hookimpl
from automl_admm.runs.finish.model_file import (
    OUR_TYPES,
    load_model,
    rows_for_the_model,
    trusted_types,
)
from automl_admm.store.json_content import with_digest
from automl_admm.store.run_folder import RunFolder, write_atomically, write_json

ROWS = 80
COMPONENTS = load_plugins().components
STORED = Path(__file__).parents[1] / "stored_run" / "stacked"
CASES = [(task, record.name) for task in TASKS for record in COMPONENTS[task]]


def table(task: LearningTask) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=ROWS), "b": rng.normal(size=ROWS)})
    frame["c"] = rng.choice(list("xyz"), ROWS)
    target = frame["b"].to_numpy() + 0.3 * rng.normal(size=ROWS)
    return frame, np.where(target > 0, "yes", "no") if task == "classification" else target


def fitted(task: LearningTask, name: str) -> tuple[object, pd.DataFrame]:
    X, y = table(task)
    steps = [Step("impute")] if name != "impute" else []
    size = COMPONENTS[task].get(name).fidelity
    # Three trees are of the types of a hundred.
    steps.append(Step(name, ((size, 3),) if size else ()))
    if COMPONENTS[task].get(name).role == "transformer":
        steps.append(Step("decision_tree"))
    context = BuildContext(task, ("a", "b"), ("c",))
    pipeline = build_pipeline(steps, COMPONENTS[task], context, seed=0)
    return fit_pipeline(pipeline, steps, COMPONENTS[task], X, y), X


def types_of(task: LearningTask, name: str) -> tuple[str, ...]:
    return COMPONENTS[task].get(name).trusted_types


def saved(folder: Path, content: bytes) -> RunFolder:
    run = RunFolder(folder)
    write_atomically(run.model, content)
    digest = hashlib.sha256(content).hexdigest()
    said = {"columns": ["a", "b", "c"], "text_columns": ["c"], "classes": None, "versions": {}}
    other = json.loads((STORED / "model.json").read_text())
    write_json(run.model_manifest, with_digest({**other, "sha256": digest, **said}))
    return run


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("task", "name"), CASES)
def test_every_component_consists_of_trusted_types(task: LearningTask, name: str) -> None:
    model, _ = fitted(task, name)
    # Only what the records of these very steps name: another component's list is no excuse.
    named = {one for step in (name, "impute", "decision_tree") for one in types_of(task, step)}
    assert set(get_untrusted_types(data=dumps(model))) <= named


def test_a_saved_pipeline_predicts_as_it_did(tmp_path: Path) -> None:
    model, X = fitted("classification", "random_forest")
    again = load_model(saved(tmp_path, dumps(model)))
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    model, _ = fitted("classification", "decision_tree")
    run = saved(tmp_path, dumps(model))
    run.model.write_bytes(run.model.read_bytes()[:-10])
    with pytest.raises(StoreError, match="is not the file that the run wrote"):
        load_model(run)


def test_strange_types_are_refused_before_loading(tmp_path: Path) -> None:
    from sklearn.preprocessing import FunctionTransformer

    run = saved(tmp_path, dumps(FunctionTransformer(os.system)))
    with pytest.raises(StoreError, match=r"not trusted: posix\.system"):
        load_model(run)


def test_a_model_that_leaves_the_program_is_an_error_of_its_rows() -> None:
    with pytest.raises(DataError, match="cannot take these rows"), rows_for_the_model(None, []):
        sys.exit(0)
    with pytest.raises(KeyboardInterrupt), rows_for_the_model(None, []):
        raise KeyboardInterrupt


def test_a_pickle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        load_model(saved(tmp_path, pickle.dumps({"a": 1})))


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"holds no model\.json"):
        load_model(RunFolder(tmp_path))


def test_a_component_of_a_plugin_says_what_is_to_be_trusted() -> None:
    record = ComponentPlugin(
        name="spline", summary="s", role="transformer", factory=dict, trusted_types=("a.B",)
    )

    class Provider:
        @hookimpl
        def components(self) -> list[ComponentPlugin]:
            return [record]

    found = trusted_types(load_plugins({"splines": Provider()}))
    assert found == trusted_types(load_plugins()) | {"a.B"}
    assert "a.B" not in trusted_types(load_plugins())


def test_without_any_component_only_types_of_ours_are_trusted() -> None:
    assert trusted_types(load_plugins(sources=())) == OUR_TYPES


def test_every_name_in_the_table_of_types_is_a_component() -> None:
    known = {record.name for registry in COMPONENTS.values() for record in registry}
    assert set(BY_COMPONENT) <= known
