"""Run folders made before types of this package moved: they predict, verify and go on as before.

The folders in `old_run` were made by the version before the move, on the table beside them; its
predictions of the first rows are in `expected.csv`.
"""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from zipfile import ZipFile

import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler
from skops.io import dumps

from automl_admm.cli.main import main
from automl_admm.constraints.group_classifier import GroupThresholdClassifier
from automl_admm.pipelines.stacking import StackedPredictions
from automl_admm.runs.finish.moved_types import MOVED, SCHEMA, name_anew

OLD_RUNS = Path(__file__).with_name("old_run")
NAMES = ("stacked", "group_thresholds")
# Where the tests run with another scikit-learn than the old run did, it says so.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")


@pytest.fixture(params=NAMES)
def old_run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(OLD_RUNS / request.param, tmp_path / "run"))


def run(*arguments: object) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert not ended.value.code


def schema_of(content: bytes) -> str:
    with ZipFile(io.BytesIO(content)) as archive:
        return archive.read(SCHEMA).decode()


def test_the_folders_name_types_where_they_were() -> None:
    schemas = [schema_of((OLD_RUNS / name / "model.skops").read_bytes()) for name in NAMES]
    for old in MOVED:
        module, _, name = old.rpartition(".")
        assert any(f'"{module}"' in schema and f'"{name}"' in schema for schema in schemas)


def test_an_old_model_predicts_what_it_predicted(old_run: Path, tmp_path: Path) -> None:
    expected = pd.read_csv(old_run / "expected.csv")
    rows = tmp_path / "rows.csv"
    pd.read_csv(old_run / "data.csv").head(len(expected)).to_csv(rows, index=False)
    run("predict", old_run, rows, "-o", tmp_path / "out.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out.csv"), expected)


def test_an_old_certificate_is_computed_again(
    old_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("verify", old_run, old_run / "data.csv")
    assert "the data agree: CERTIFIED" in capsys.readouterr().out


def test_an_old_run_goes_on(old_run: Path, tmp_path: Path) -> None:
    more = ("--max-evaluations", "4", "--executor", "inline", "--on-infeasible", "closest", "-q")
    run("resume", old_run, old_run / "data.csv", *more)
    assert json.loads((old_run / "store.json").read_text())["rows"] == 4
    run("predict", old_run, old_run / "data.csv", "-o", tmp_path / "out.csv")


def test_only_moved_types_are_renamed() -> None:
    model = dumps(StandardScaler())
    assert name_anew(model) is model


def test_new_names_are_those_of_the_types() -> None:
    types = (StackedPredictions, GroupThresholdClassifier)
    assert set(MOVED.values()) == {f"{one.__module__}.{one.__qualname__}" for one in types}
    assert set(MOVED).isdisjoint(MOVED.values())


def test_a_stranger_under_an_old_module_keeps_its_name() -> None:
    (old, _) = next(iter(MOVED.items()))
    buffer = io.BytesIO()
    stranger = {"__module__": old.rpartition(".")[0], "__class__": "Stranger"}
    with ZipFile(buffer, "w") as archive:
        archive.writestr(SCHEMA, json.dumps({"content": [stranger]}))
    assert json.loads(schema_of(name_anew(buffer.getvalue()))) == {"content": [stranger]}
