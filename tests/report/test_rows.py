"""A report on labelled rows: which rows they are, and the numbers that follow from them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from json_schema import is_valid
from report_runs import Page
from sklearn.metrics import confusion_matrix, mean_absolute_error, roc_auc_score

from automl_admm import AutoMLClassifier, load
from automl_admm.api.report_rows import rows_asked
from automl_admm.cli.commands.report import command
from automl_admm.cli.main import main
from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.report.content import describe
from automl_admm.report.rows.given import RowsAsked
from automl_admm.report.writing import Report, make_report
from automl_admm.runs.provenance import sum_of_rows
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.labelled_rows import open_run
from automl_admm.runs.saved.row_origin import find_origin
from automl_admm.store.run_folder import RunFolder

STORED = Path(__file__).parents[1] / "runs" / "stored_run"
HOSTILE = "</td><script>alert(1)</script>\u202e\x1b[31m"
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that set rows aside, with groups in a limit; nothing here writes into it."""
    place = tmp_path_factory.mktemp("old") / "run"
    return Path(shutil.copytree(STORED / "group_thresholds", place))


@pytest.fixture(scope="module")
def table(certified: Path) -> pd.DataFrame:
    return pd.read_csv(certified / "data.csv")


def on(run: Path, frame: pd.DataFrame, *groups: str) -> dict[str, Any]:
    return content(make_report(run, RowsAsked(frame, "rows.csv", None, groups)))


def content(report: Report) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report.content)
    return found


def aside(run: Path) -> list[int]:
    places: list[int] = json.loads((run / "certification-rows.json").read_text())["places"]
    return places


def test_of_the_whole_table_exactly_the_rows_held_out_are_measured(
    certified: Path, table: pd.DataFrame
) -> None:
    found = on(certified, table)
    origin, places = found["rows"]["origin"], aside(certified)
    assert (origin["kind"], origin["given"], origin["measured"]) == (
        *("held out of all", len(table)),
        len(places),
    )
    y, called = table["class"].iloc[places], load(certified).predict(table.iloc[places])
    expected = confusion_matrix(y, called, labels=found["rows"]["classes"])
    assert found["rows"]["confusion"] == expected.tolist()
    assert found["rows"] == {**on(certified, table.iloc[places])["rows"], "origin": origin}


@dataclass(frozen=True)
class Told:
    """The kind of some rows, the number known to the model, and words of the page."""

    kind: str
    known: int | None
    words: str


@pytest.mark.parametrize(
    ("pick", "told"),
    [
        (lambda table, places: table.iloc[places], Told("held out", None, "held out: nothing")),
        (lambda table, places: table.drop(index=places), Told("learned from", 240, "too good")),
        (lambda table, places: table.sample(50, random_state=0), Told("other", 27, "may be too")),
        (
            lambda table, places: table.iloc[places[::-1]],
            Told("held out", None, "in another order"),
        ),
    ],
)
def test_a_report_says_which_rows_these_are(
    certified: Path, table: pd.DataFrame, pick: Callable[..., pd.DataFrame], told: Told
) -> None:
    report = make_report(certified, RowsAsked(pick(table, aside(certified)), "rows.csv"))
    origin = content(report)["rows"]["origin"]
    assert (origin["kind"], origin["known"]) == (told.kind, told.known)
    assert told.words in Page(report.page.decode()).text


def test_groups_are_those_of_the_limits_and_those_asked_for(
    certified: Path, table: pd.DataFrame
) -> None:
    found = on(certified, table, "age:30,45")
    assert [one["by"] for one in found["groups"]["groupings"]] == ["sex", "age:30,45"]
    (by_sex, _), places = found["groups"]["groupings"], aside(certified)
    rows = table.iloc[places]
    right = load(certified).predict(rows) == rows["class"]
    for group in by_sex["groups"]:
        inside = (rows["sex"].astype(str) == group["group"]).to_numpy()
        accuracy = next(one for one in group["measures"] if one["name"] == "accuracy")
        assert accuracy["value"] == pytest.approx(right[inside].mean())
        assert accuracy["lower"] <= accuracy["value"] <= accuracy["upper"]
    assert found["thresholds"]["shipped"] is None  # a threshold for each group


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (("age[",), "is no list of columns"),
        (("nothing",), "has no column 'nothing'"),
        (("many",), "more than 20 cannot be told apart"),
        (("sex:1",), "holds no numbers"),
    ],
)
def test_groups_that_are_none_are_refused_in_a_line(
    certified: Path, table: pd.DataFrame, groups: tuple[str, ...], said: str
) -> None:
    frame = table.assign(many=np.arange(len(table)), sex=table["sex"].astype(str) + "x")
    with pytest.raises((DataError, ConfigurationError), match=said):
        on(certified, frame, *groups)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table.drop(columns="class"), "no column 'class'"),
        (lambda table: table.iloc[:0], "has no rows"),
        (lambda table: table.assign(**{"class": "neither"}), "no class of the run"),
    ],
)
def test_rows_that_do_not_suit_the_model_are_refused(
    certified: Path, table: pd.DataFrame, change: Callable[..., pd.DataFrame], said: str
) -> None:
    with pytest.raises(DataError, match=said):
        on(certified, change(table))


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, pd.DataFrame]:
    """A search over two classes with a limit on decisions, and rows that it has not seen."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", HOSTILE])
    frame = X.assign(y=np.where(X["a"] + rng.normal(size=400) > 0, "yes", HOSTILE))
    place = tmp_path_factory.mktemp("rows") / "run"
    more = {"max_evaluations": 3, "cv": 2, "executor": "inline", "random_state": 0}
    search = AutoMLClassifier("tiny", work_dir=place, constraints=["fpr <= 0.4"], **more)
    search.fit(frame.drop(columns="y")[:200], frame["y"][:200])
    return search, frame[200:]


@pytest.fixture(scope="module")
def page(searched: tuple[Any, pd.DataFrame]) -> tuple[Page, dict[str, Any]]:
    search, fresh = searched
    path = search.report(data=fresh, groups=["a:-1,1"])
    return Page(path.read_text("utf-8")), json.loads(path.with_suffix(".json").read_text("utf-8"))


def test_curves_thresholds_and_columns_are_those_of_the_rows(
    searched: tuple[Any, pd.DataFrame], page: tuple[Page, dict[str, Any]]
) -> None:
    (search, fresh), (_, found) = searched, page
    X, y = fresh.drop(columns="y"), fresh["y"] == "yes"
    scores = search.predict_proba(X)[:, list(search.classes_).index("yes")]
    (curve,) = found["curves"]["classes"]
    assert curve["name"] == "yes"
    assert curve["area"] == pytest.approx(roc_auc_score(y, scores))
    assert sum(one["rows"] for one in curve["calibration"]) == len(fresh)
    threshold = found["thresholds"]
    (marked,) = (p for p in threshold["places"] if p["threshold"] == threshold["shipped"])
    called = search.predict(X) == "yes"
    assert marked["recall"] == pytest.approx(called[y].mean())
    assert marked["limits"][0] == pytest.approx(called[~y].mean())
    assert found["columns"]["columns"][0]["name"] == "a"
    assert len(found["columns"]["columns"]) == 3
    assert is_valid(found, describe())


@pytest.mark.parametrize("count", [40, 1])
def test_rows_of_one_class_are_told_in_a_sentence_and_keep_the_schema(
    count: int, searched: tuple[Any, pd.DataFrame]
) -> None:
    search, fresh = searched
    rows = RowsAsked(fresh[fresh["y"] == "yes"][:count], "rows.csv", None, ("a:-1,1",))
    report = make_report(search.work_dir, rows)
    found, shown = content(report), Page(report.page.decode())
    assert is_valid(found, describe())
    assert (found["columns"]["columns"], found["rows"]["limits"][0]["holds"]) == ([], None)
    assert "Only class 'yes' is among these rows, so there is no ROC curve" in shown.text
    assert f"so there is no {found['columns']['metric']} that a shuffle" in shown.text
    titles = {a.get("aria-label") for t, a in shown.elements if t == "svg"}
    assert "Calibration" in titles
    assert not titles & {"ROC curve", "Precision and recall"}


def test_rows_that_cannot_be_recognised_are_doubted_in_the_numbers(
    searched: tuple[Any, pd.DataFrame],
) -> None:
    search, fresh = searched
    found = on(search.work_dir, fresh)
    doubt = found["rows"]["origin"]["doubt"]
    assert "no hash of each row" in doubt
    assert any(doubt in one for one in found["verdict"]["warnings"])


def test_rows_of_one_group_cannot_tell_a_limit_between_groups(
    certified: Path, table: pd.DataFrame
) -> None:
    one_group = table[table["sex"] == table["sex"].iloc[0]]
    report = make_report(certified, RowsAsked(one_group, "rows.csv"))
    found = content(report)
    values = {one["limit"]: (one["value"], one["holds"]) for one in found["rows"]["limits"]}
    assert {told for limit, told in values.items() if "[sex]" in limit} == {(None, None)}
    assert "cannot tell" in Page(report.page.decode()).text
    assert is_valid(found["rows"], describe()["properties"]["rows"])


def test_the_page_has_the_figures_and_no_markup_of_names(
    page: tuple[Page, dict[str, Any]],
) -> None:
    titles = {a.get("aria-label") for t, a in page[0].elements if t == "svg"}
    assert titles >= {"ROC curve", "Precision and recall", "Calibration", "Rates by threshold"}
    assert "script" not in page[0].tags()
    assert "alert(1)" in page[0].text
    assert "\u202e" not in page[0].text
    assert "What takes the data" not in page[0].text


def test_a_quantity_has_errors_of_the_sign_of_limits(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(160, 2)), columns=["a", "b"])
    frame, run = X.assign(y=3 * X["a"] + rng.normal(size=160)), tmp_path / "run"
    train, fresh = tmp_path / "train.csv", tmp_path / "fresh.csv"
    frame[:100].to_csv(train, index=False)
    frame[100:].to_csv(fresh, index=False)
    few = ["--max-evaluations", "2", "--cv", "2", "--executor", "inline", "--quiet"]
    few += ["--constraint", "bias <= 9"]
    with pytest.raises(SystemExit) as ended:
        main(["fit", str(train), "--target", "y", "--grammar", "tiny", "--out", str(run), *few])
    assert not ended.value.code
    found = content(make_report(run, rows_asked(run, fresh, ())))
    expected = mean_absolute_error(frame["y"][100:], load(run).predict(X[100:]))
    assert found["residuals"]["mean_absolute"] == pytest.approx(expected)
    assert len(found["residuals"]["points"]) == 60
    errors = load(run).predict(X[100:]) - frame["y"][100:].to_numpy()
    assert found["residuals"]["bias"] == pytest.approx(errors.mean())
    assert found["residuals"]["quantiles"]["0.95"] == pytest.approx(np.quantile(errors, 0.95))
    bands = found["residuals"]["bands"]
    assert np.mean([band["error"] for band in bands]) == pytest.approx(errors.mean())
    assert found["rows"]["limits"][0]["value"] == pytest.approx(errors.mean())
    assert found["rows"]["origin"]["sha256"] == hashlib.sha256(fresh.read_bytes()).hexdigest()
    assert found["rows"]["origin"]["known"] is None
    assert (found["curves"], found["thresholds"], found["groups"]) == (None, None, None)
    own = content(make_report(run, rows_asked(run, train, ())))["rows"]
    assert (own["origin"]["kind"], own["origin"]["measured"]) == ("held out of all", 20)
    assert own["score"] == pytest.approx(own["held_out_score"])
    held_out = held_out_of(run, frame[:100])
    for rows, kind, words in (
        (frame[:100], "all", "all rows of the run, in another order"),
        (held_out, "held out", "those that the run held out, in another order"),
        (frame[:100].drop(held_out.index), "learned from", "fitted the model to, in another order"),
    ):
        told = make_report(run, RowsAsked(rows.sample(frac=1, random_state=1), "rows.csv"))
        origin = content(told)["rows"]["origin"]
        assert (origin["kind"], origin["is_shuffled"], origin["doubt"]) == (kind, True, None)
        assert words in Page(told.page.decode()).text
    one = frame[:100].sample(frac=1, random_state=1).assign(y=frame["y"][:100].to_numpy())
    assert on(run, one)["rows"]["origin"]["kind"] == "other"


def held_out_of(run: Path, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that a run held out of its table."""
    data = json.loads((run / "run.json").read_text())["data"]
    opened = open_run(RunFolder(run), GivenTable(frame, "rows.csv"))
    _, places = find_origin(opened, opened.table(frame), len(frame), None)
    assert data["held_out_rows_sum"] == sum_of_rows(opened.table(frame.iloc[places]))
    return frame.iloc[places]


def test_the_command_takes_a_file(certified: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(certified, tmp_path / "run"))
    data = ["--data", str(run / "data.csv")]
    ended = CliRunner().invoke(command, [str(run), *data, "--group", "sex"])
    assert ended.exit_code == 0, ended.output
    assert b"held out are measured here" in (run / "report.html").read_bytes()
    refused = CliRunner().invoke(command, [str(run), "--group", "sex"])
    assert refused.exit_code == 2
    assert "name it with --data" in refused.output


def test_rows_in_python_are_a_frame_or_a_file(searched: tuple[Any, pd.DataFrame]) -> None:
    with pytest.raises(ConfigurationError, match="must be a frame with the target in it"):
        searched[0].report(data=[1, 2])
    with pytest.raises(ConfigurationError, match="there is none"):
        searched[0].report(groups=["a"])
