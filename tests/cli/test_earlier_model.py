"""A session with other data that was killed before its model: each command answers for the model.

The folder of a killed session is a copy made right after its search.
"""

from __future__ import annotations

import json
import re
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from called import run

from automl_admm import LimitWarning, load, monitor
from automl_admm.core.errors import StoreError
from automl_admm.runs import pipelines
from automl_admm.runs.finish import kept_model

SEARCH = (
    *("--target", "bad", "--grammar", "tiny", "--theta-solver", "random", "--executor", "inline"),
    *("--cv=2", "--seed", 1, "--max-evaluations", 2, "-q", "--constraint", "fpr <= 0.3"),
)
AGAIN = ("--allow-changed", "--max-evaluations", 2, "-q")
EARLIER = "the model in the folder is of an earlier session, before changes (data: "
KINDS = ("certified", "plain")


def credit(seed: int, rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"income": rng.normal(size=rows), "debt": rng.normal(size=rows)})
    signal = 2.5 * frame["income"] - 2.5 * frame["debt"] + 0.8 * rng.normal(size=rows)
    frame["bad"] = np.where(signal > 0.0, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs on old rows, `certified` and `plain`, each killed when it went on with new ones."""
    place = tmp_path_factory.mktemp("earlier")
    credit(3, 1200).to_csv(place / "old.csv", index=False)
    credit(4, 1000).to_csv(place / "new.csv", index=False)
    for name, asked in zip(KINDS, (("--certify", 0.95), ("--test-size", 0.2)), strict=True):
        fitted = run("fit", place / "old.csv", *SEARCH, *asked, "--out", place / "live" / name)
        assert fitted.code == 0, fitted.err
        with pytest.MonkeyPatch.context() as patch:
            conclude = pipelines._conclude

            def killed(ending: Any, name: str = name, conclude: Any = conclude) -> Any:
                shutil.copytree(place / "live" / name, place / name)
                return conclude(ending)

            patch.setattr(pipelines, "_conclude", killed)
            run("resume", place / "live" / name, place / "new.csv", *AGAIN)
    return place


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / request.param, tmp_path / "run"))


def learned(folder: Path) -> int:
    return int(json.loads((folder / "model.json").read_text())["rows"])


def test_evaluate_knows_the_rows_that_the_model_learned_from(folder: Path, made: Path) -> None:
    told = run("evaluate", folder, made / "old.csv")
    assert told.code == 0
    assert f"warning: {EARLIER}" in told.err
    rows = learned(folder)
    assert f"{rows} of these 1200 rows are, or equal, rows that the model learned" in told.err
    told = run("evaluate", folder, made / "new.csv")
    assert told.code == 0
    assert "learned from" not in told.err


def test_in_json_and_in_python_it_is_told_as_well(folder: Path, made: Path) -> None:
    told = run("evaluate", folder, made / "new.csv", "--json")
    assert (told.code, told.err) == (0, "")
    assert json.loads(told.out)["earlier"].startswith(EARLIER)
    with pytest.warns(LimitWarning, match=re.escape(EARLIER)):
        load(folder)
    with pytest.warns(LimitWarning, match=re.escape(EARLIER)):
        monitor(folder, made / "new.csv")


def test_a_model_of_this_session_is_told_as_no_earlier_one(made: Path) -> None:
    place = made / "own"
    assert run("fit", made / "old.csv", *SEARCH, "--test-size", 0.2, "--out", place).code == 0
    told = run("evaluate", place, made / "new.csv", "--json")
    assert json.loads(told.out)["earlier"] is None
    with warnings.catch_warnings(action="error"):
        load(place)


def test_monitor_refuses_the_rows_of_the_model(folder: Path, made: Path) -> None:
    told = run("monitor", folder, made / "old.csv")
    assert told.code == 3
    assert f"the model learned from {learned(folder)} of its 1200" in told.err
    assert not list((folder / "monitoring").glob("look-*"))
    assert run("monitor", folder, made / "new.csv").code == 0


def test_report_and_leaderboard_take_it_for_none_of_this_session(folder: Path, made: Path) -> None:
    refused = run("report", folder, "--data", made / "old.csv")
    assert refused.code == 7
    assert len(refused.err.splitlines()) == 1
    assert EARLIER in refused.err
    assert "`automl-admm evaluate" in refused.err
    told = run("report", folder, "--json")
    assert told.code == 0
    assert EARLIER.capitalize()[:40] in told.out
    assert "No model has been saved so far" in told.out
    board = run("leaderboard", folder)
    assert EARLIER in board.out
    assert "shipped" not in board.out


def test_predict_says_whose_model_it_is(folder: Path, made: Path) -> None:
    told = run("predict", folder, made / "new.csv", "-o", folder / "told.csv")
    assert told.code == 0
    assert f"warning: {EARLIER}" in told.err


def test_a_model_card_is_refused_for_that_reason(folder: Path, tmp_path: Path) -> None:
    refused = run("export", folder, "--to", f"modelcard:{tmp_path / 'card.md'}")
    assert refused.code == 7
    assert refused.err.startswith(f"error: {EARLIER}")
    assert "`automl-admm resume` goes on to a model of its own" in refused.err
    assert not (tmp_path / "card.md").exists()


def test_verify_computes_the_certificate_of_the_model_again(made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made / "certified", tmp_path / "run"))
    told = run("verify", folder, made / "old.csv")
    assert told.code == 0, told.out
    assert "the data agree: CERTIFIED" in told.out
    assert "order of the test: the log of its session is not in this folder" in told.out
    assert run("verify", folder, made / "new.csv").code == 3
    refused = run("export", folder, "--to", f"certificate:{tmp_path / 'page'}")
    assert refused.code == 7
    assert EARLIER in refused.err


@pytest.mark.parametrize(("data", "is_there"), [("old.csv", True), ("new.csv", False)])
def test_it_stays_for_its_own_data_alone(
    data: str,
    is_there: bool,
    made: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The log on the new data has evaluations of the same numbers and texts."""
    found = []
    before = kept_model.model_that_is_there

    def seen(session: Any) -> Any:
        found.append(before(session))
        return found[-1]

    monkeypatch.setattr(kept_model, "model_that_is_there", seen)
    place = tmp_path / "run"
    if is_there:
        assert run("fit", made / "old.csv", *SEARCH, "--test-size", 0.2, "--out", place).code == 0
    else:
        shutil.copytree(made / "plain", place)
    assert run("resume", place, made / data, "--max-evaluations", 3, "-q").code == 0
    assert [one is not None for one in found[-1:]] == [is_there]


def test_a_model_of_other_data_in_the_folder_of_an_ended_run_is_refused(
    folder: Path, made: Path
) -> None:
    content = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(content | {"state": "done"}))
    for command in ("evaluate", "monitor", "report"):
        given = () if command == "report" else (made / "new.csv",)
        ended = run(command, folder, *given)
        assert ended.code == 7, command
        assert "was made for other settings than 'run.json' has (data: " in ended.err
    for ask in (load, lambda place: monitor(place, made / "new.csv")):
        with pytest.raises(StoreError, match="was made for other settings"):
            ask(folder)


def test_a_resume_with_other_labels_is_asked_about(tmp_path: Path) -> None:
    """The same rows with the same order of classes: their numbers are the same."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"age": rng.normal(size=90)})
    frame["buys"] = np.where(frame["age"] + rng.normal(size=90) > 0, "yes", "no")
    frame.to_csv(tmp_path / "words.csv", index=False)
    given = ("--grammar", "tiny", "--cv=2", "--executor", "inline", "-q")
    begun = (*given, "--target=buys", "--max-evaluations=1", "--out", tmp_path / "run")
    assert run("fit", tmp_path / "words.csv", *begun).code == 0
    frame["buys"] = (frame["buys"] == "yes").astype(int)
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    more = ("--max-evaluations=2", "-q")
    ended = run("resume", tmp_path / "run", tmp_path / "numbers.csv", *more)
    assert ended.code == 7
    assert "classes: 'no, yes' → '0, 1'" in ended.err
    whole = ("resume", tmp_path / "run", tmp_path / "numbers.csv")
    assert run(*whole, *more, "--allow-changed").code == 0
    again = run(*whole, "--max-evaluations=3", "-q")
    assert again.code == 0, again.err
    later = frame.assign(buys=frame["buys"].astype(float))
    later.to_parquet(tmp_path / "later.parquet")
    for file in ("later.parquet", "numbers.csv"):
        measured = run("evaluate", tmp_path / "run", tmp_path / file)
        assert measured.code == 0, measured.err


def test_other_values_of_a_sensitive_column_are_other_data(tmp_path: Path) -> None:
    """No pipeline sees the column, and no fold goes by it: the rows to learn from are the same."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 120), "pay": rng.integers(1, 99, 120)})
    frame["buys"] = np.where(frame["age"] + 20 * rng.normal(size=120) > 54, "yes", "no")
    frame.to_csv(tmp_path / "people.csv", index=False)
    given = ("--grammar", "tiny", "--cv=2", "--executor", "inline", "-q", "--sensitive=pay")
    limit = ("--constraint", "score_correlation[pay] <= 0.9", "--target=buys")
    begun = (*given, *limit, "--max-evaluations=1", "--out", tmp_path / "run")
    assert run("fit", tmp_path / "people.csv", *begun).code == 0
    frame.astype({"pay": float}).to_parquet(tmp_path / "same.parquet")
    go_on = ("resume", tmp_path / "run")
    same = run(*go_on, tmp_path / "same.parquet", "--max-evaluations=2", "-q")
    assert same.code == 0, same.err
    frame.assign(pay=rng.permutation(frame["pay"])).to_csv(tmp_path / "others.csv", index=False)
    ended = run(*go_on, tmp_path / "others.csv", "--max-evaluations=3", "-q")
    assert ended.code == 7, ended.out
    assert "data: other values of pay, which limits name" in ended.err
