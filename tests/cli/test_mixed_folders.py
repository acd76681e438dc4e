"""Files of two runs in one folder: no command answers for a run that the folder is not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from called import run

from automl_admm import AutoMLClassifier, load, read_run
from automl_admm.core.errors import StoreError
from automl_admm.store.json_content import with_digest

GRAMMAR = """\
%import components (impute, decision_tree, gaussian_nb)
start: impute estimator
estimator: gaussian_nb | decision_tree
"""
REFUSED = 7
SETTINGS, MODEL, LOG = ("run.json",), ("model.json", "model.skops"), ("store.sqlite", "store.json")
MIXED = {
    "settings": SETTINGS,
    "model": MODEL,
    "log": (*LOG, "store.bak"),
    "settings and model": (*SETTINGS, *MODEL),
    "settings and log": (*SETTINGS, *LOG, "store.bak"),
    "model and log": (*MODEL, *LOG, "store.bak"),
}
COMMANDS = (
    *("predict", "evaluate", "monitor", "verify", "export"),
    *("leaderboard", "report", "resume", "compare"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs on tables alike, with another direction of the same labels."""
    place = tmp_path_factory.mktemp("mixed")
    rng = np.random.default_rng(0)
    (place / "g.lark").write_text(GRAMMAR)
    for name, sign in (("mine", 1.0), ("theirs", -1.0)):
        age = rng.uniform(18, 90, 120)
        buys = np.where(sign * (age - 50) + 5 * rng.normal(size=120) > 0, "yes", "no")
        pd.DataFrame({"age": age, "buys": buys}).to_csv(place / f"{name}.csv", index=False)
        ended = run(
            *("fit", place / f"{name}.csv", "--target", "buys", "--grammar", place / "g.lark"),
            *("-q", "--executor", "inline", "--cv=2", "--max-evaluations", 2),
            *("--constraint", "fpr <= 0.9", "--out", place / name),
        )
        assert ended.code == 0, ended.err
    return place


def mixed(made: Path, place: Path, names: tuple[str, ...]) -> Path:
    folder = Path(shutil.copytree(made / "mine", place / "run"))
    for name in names:
        if (made / "theirs" / name).exists():
            shutil.copy(made / "theirs" / name, folder / name)
    return folder


def call(command: str, folder: Path, data: Path) -> tuple[object, ...]:
    return {
        "predict": ("predict", folder, data, "-o", folder / "out.csv"),
        "evaluate": ("evaluate", folder, data),
        "monitor": ("monitor", folder, data),
        "verify": ("verify", folder, data),
        "export": ("export", folder, "--onnx", folder / "out.onnx", "--data", data),
        "leaderboard": ("leaderboard", folder),
        "report": ("report", folder),
        "resume": ("resume", folder, "--max-evaluations", "3"),
        "compare": ("compare", folder, data.parent / "theirs"),
    }[command]


@pytest.mark.parametrize("names", MIXED.values(), ids=MIXED)
def test_no_command_answers_for_a_folder_of_two_runs(
    names: tuple[str, ...], made: Path, tmp_path: Path
) -> None:
    folder = mixed(made, tmp_path, names)
    for command in COMMANDS:
        ended = run(*call(command, folder, made / "mine.csv"))
        assert (ended.code, ended.out) == (REFUSED, ""), (command, ended)
        assert "is of another run than" in ended.err, (command, ended.err)
        assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("names", [MODEL, SETTINGS], ids=["model", "settings"])
def test_nor_do_load_and_read_run(names: tuple[str, ...], made: Path, tmp_path: Path) -> None:
    folder = mixed(made, tmp_path, names)
    with pytest.raises(StoreError, match="is of another run than"):
        load(folder)
    with pytest.raises(StoreError, match="is of another run than"):
        read_run(folder)


def test_a_model_alone_and_a_folder_without_its_log_stay_of_use(made: Path, tmp_path: Path) -> None:
    folder = mixed(made, tmp_path, ())
    for path in folder.glob("store.*"):
        path.unlink()
    assert run("evaluate", folder, made / "mine.csv").code == 0
    (folder / "run.json").unlink()
    assert run(*call("predict", folder, made / "mine.csv")).code == 0
    shutil.copy(made / "theirs" / "run.json", folder)
    ended = run(*call("predict", folder, made / "mine.csv"))
    assert ended.code == REFUSED
    assert "model.json' is of another run than 'run.json' beside it" in ended.err


def test_the_name_of_a_run_stays_when_it_goes_on(made: Path, tmp_path: Path) -> None:
    folder = mixed(made, tmp_path, ())
    before = json.loads((folder / "run.json").read_text())["run_id"]
    ended = run("resume", folder, made / "mine.csv", "--max-evaluations", 3, "-q")
    assert ended.code == 0, ended.err
    named = [json.loads((folder / name).read_text()) for name in ("run.json", "model.json")]
    assert [one["run_id"] for one in named] == [before, before]
    assert json.loads((folder / "store.json").read_text())["run"] == before


def test_a_run_in_memory_has_no_name_to_differ(made: Path) -> None:
    rows = pd.read_csv(made / "mine.csv")
    search = AutoMLClassifier(
        grammar=made / "g.lark", executor="inline", cv=2, max_evaluations=1
    ).fit(rows[["age"]], rows["buys"])
    assert search.predict(rows[["age"]]).shape == (120,)


@pytest.mark.parametrize("lost", [("store.json",), ("store.json", "store.bak")])
def test_a_repaired_log_keeps_the_name_of_its_run(
    lost: tuple[str, ...], made: Path, tmp_path: Path
) -> None:
    folder = mixed(made, tmp_path, ())
    for name in lost:
        (folder / name).unlink(missing_ok=True)
    assert run("store", "repair", folder).code == 0
    for command in ("predict", "evaluate", "leaderboard"):
        assert run(*call(command, folder, made / "mine.csv")).code == 0, command


def test_a_repair_takes_no_log_that_is_not_of_the_settings(made: Path, tmp_path: Path) -> None:
    folder = mixed(made, tmp_path, ("store.sqlite", "store.bak"))
    (folder / "store.json").unlink()
    (folder / "store.bak").unlink(missing_ok=True)
    ended = run("store", "repair", folder)
    assert ended.code == REFUSED, ended
    assert "can be saved" in ended.err


@pytest.mark.parametrize("command", ["leaderboard", "report"])
def test_a_model_file_of_another_run_is_told(command: str, made: Path, tmp_path: Path) -> None:
    folder = mixed(made, tmp_path, ("model.skops",))
    given = ("--json",) if command == "report" else ()
    ended = run(command, folder, *given)
    assert ended.code == 0, ended.err
    assert "model.skops is not the file that the run wrote" in ended.out
    assert "is not the file" not in run(command, made / "mine", *given).out
    content = json.loads((folder / "run.json").read_text()) | {"state": "running"}
    (folder / "run.json").write_text(json.dumps(content))
    assert "is not the file" not in run(command, folder, *given).out, "it may be written now"


def test_a_script_of_another_run_is_neither_shown_nor_stated(made: Path, tmp_path: Path) -> None:
    folder = mixed(made, tmp_path, ())
    for content in (b"print(1)\n", None):
        if content is not None:
            (folder / "pipeline.py").write_bytes(content)
        else:
            manifest = json.loads((folder / "model.json").read_text()) | {"script_sha256": None}
            (folder / "model.json").write_text(json.dumps(with_digest(manifest)))
        told = run("report", folder, "--json")
        assert "is not the script that the run wrote for its model" in told.out
        assert read_run(folder).models == (folder / "model.skops",)
        refused = run("export", folder, "--to", "certificate:audit")
        assert refused.code == REFUSED
        assert "pipeline.py' is not the script" in refused.err
    assert "is not the script" not in run("report", made / "mine", "--json").out


def with_other_limits(folder: Path, state: str) -> None:
    """Write `run.json` as a session that began with another bound does, before it has a model."""
    content = json.loads((folder / "run.json").read_text())
    (limit,) = content["settings"]["limits"]
    limit["bound"] = -0.1  # no evaluation is within
    (folder / "run.json").write_text(json.dumps(content | {"state": state}))


def test_a_model_for_the_limits_of_an_earlier_session_is_not_taken_for_one_of_these(
    made: Path, tmp_path: Path
) -> None:
    folder = mixed(made, tmp_path, ())
    with_other_limits(folder, "running")
    assert not read_run(folder).feasible
    board = run("leaderboard", folder)
    assert board.code == 0
    assert "the model in the folder is of an earlier session" in board.out
    told = run("report", folder, "--json")
    assert told.code == 0, told.err
    assert "No model has been saved so far" in told.out
    assert "The model in the folder is of an earlier session" in told.out
    assert "The model is within" not in told.out


def test_a_model_for_other_limits_in_the_folder_of_an_ended_run_is_refused(
    made: Path, tmp_path: Path
) -> None:
    folder = mixed(made, tmp_path, ())
    with_other_limits(folder, "done")
    ended = run("report", folder, "--json")
    assert ended.code == REFUSED
    told = "was made for other settings than 'run.json' has (limits: fpr <= 0.9 → fpr <= -0.1)"
    assert told in ended.err


def test_a_swapped_model_is_not_compared(made: Path, tmp_path: Path) -> None:
    folder = mixed(made, tmp_path, ("model.skops",))
    ended = run("compare", folder, made / "theirs")
    assert (ended.code, ended.out) == (REFUSED, "")
    assert "model.skops is not the file that the run wrote" in ended.err
