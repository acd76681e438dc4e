"""Every command of the shell in README.md and docs/ runs, on a small table and for a moment.

A block that cannot run here has a mark above it, `<!-- not run: REASON -->`. The commands of the
tutorials run in full, with their own budgets, in `.ci/tutorial.py`.
"""

from __future__ import annotations

import io
import json
import math
import re
import runpy
import shlex
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell_pages import NOT_RUN, PAGES, ROOT, RUN, TUTORIALS, blocks, limits_in, lines

from automl_admm.cli.main import main
from automl_admm.runs.session.run_log import read_log
from automl_admm.store.run_folder import RunFolder

pytestmark = pytest.mark.usefixtures("quick_servers")

PROGRAM = "automl-admm"
# A folder of a run as the pages name it: the last one that the page made, or one made before.
FOLDER = re.compile(r"^(?:automl-runs/\w+-\d{8}-\d{6}|RUN)(?=/|$)")
KEY = "4c6706f"
SHORT = {"+30m": "+1s", "+100": "+1"}
LITTLE = {"--max-evaluations": "1", "--executor": "inline", "--on-infeasible": "closest"}
UNLESS_GIVEN = {"--grammar": "tiny", "--cv": "0.25"}
GRAMMAR = """\
%import components (impute, pca, gaussian_nb, random_forest)
start: impute pca? estimator
estimator: gaussian_nb | random_forest
"""
START = "impute() pca(n_components=0.9) gaussian_nb()"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tables, the grammar and a run that the pages speak of."""
    place = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(0)
    rows = 300
    frame = pd.DataFrame(
        {
            "id": [f"n{number}" for number in range(rows)],
            "name": [f"person {number}" for number in range(rows)],
            "AGE": rng.integers(20, 70, rows),
            "SEX": rng.choice(["f", "m"], rows),
            "EDUCATION": rng.integers(1, 5, rows),
            "zip": rng.choice([10115, 53111, 89073], rows),
            "row": np.arange(rows),
        }
    )
    says = frame["AGE"] + 20 * rng.normal(size=rows) > 45
    for table, target, answers in (
        ("people", "income", ("high", "low")),
        ("credit", "default", (1, 0)),
        ("visits", "bought", ("yes", "no")),
    ):
        frame.assign(**{target: np.where(says, *answers)}).to_csv(
            place / f"{table}.csv", index=False
        )
    # Cars of classes that are easy to tell: the page on them ends in a certificate.
    kinds = rng.choice(4, 500)
    cars = pd.DataFrame({"length": kinds + rng.normal(size=500) / 20, "width": kinds == 2})
    names = np.array(["bus", "opel", "saab", "van"])
    cars.assign(Class=names[kinds]).to_csv(place / "vehicle.csv", index=False)
    # Other people than those of the fit, and easier to tell: their limits hold.
    older = frame.assign(AGE=rng.integers(20, 70, rows))
    labelled = older.assign(income=np.where(older["AGE"] > 45, "high", "low"))
    labelled.to_csv(place / "labelled.csv", index=False)
    frame.to_csv(place / "new.csv", index=False)
    frame.to_parquet(place / "new.parquet")
    rings = frame["AGE"] / 5 + rng.laplace(size=rows)
    shells = frame[["AGE"]].assign(Sex=frame["SEX"], rings=rings)
    shells.to_csv(place / "abalone.csv", index=False)
    (place / "mine.lark").write_text(GRAMMAR)
    (place / "good-ones.txt").write_text("impute() gaussian_nb()\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        table = "people.csv --target income --grammar mine.lark --cv 2 --out RUN"
        fit = f"fit {table} --start '{START}' --constraint 'fpr <= 0.1'"
        few = LITTLE | {"--max-evaluations": "2"}  # pages name the second
        assert call([*shlex.split(fit), *(word for pair in few.items() for word in pair)]) == ""
    for name in ("monday", "tuesday"):
        shutil.copytree(place / "RUN", place / "automl-runs" / name)
    return place


def call(words: list[str]) -> str:
    """Run the program in this process, and return the end of an error, "" for a success."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(words)
    return f"exit code {ended.value.code}: {err.getvalue()[-800:]}" if ended.value.code else ""


def prepared(line: str, number: int, place: Path) -> list[str]:
    """Return a command as it runs here: with few evaluations, and with folders that are there."""
    words = shlex.split(line, comments=True)
    words = words[: words.index(">")] if ">" in words else words
    assert Path(words[0]).name == PROGRAM, f"mark the block with '<!-- {NOT_RUN}REASON -->': {line}"
    made_here = sorted(place.glob("out-*"), key=lambda path: int(path.name[4:]))
    latest = made_here[-1].name if made_here else "RUN"
    found = [SHORT.get(FOLDER.sub(latest, word), FOLDER.sub(latest, word)) for word in words[1:]]
    found = [one for word in found for one in _globbed(word)]
    if KEY in found:
        found[found.index(KEY)] = read_log(RunFolder(place / latest)).evaluations[0].key[:7]
    if found[0] == "resume":
        _interrupt(place / latest)
    if found[0] == "fit":
        missing = {flag: value for flag, value in UNLESS_GIVEN.items() if flag not in found}
        if "--start" in found:  # its pipelines are in the default grammar
            del missing["--grammar"]
        if "--out" not in found:
            missing["--out"] = f"out-{number}"
        found += [word for pair in (LITTLE | missing).items() for word in pair]
    return found


def _globbed(word: str) -> list[str]:
    is_pattern = "*" in word and " " not in word
    return sorted(map(str, Path().glob(word))) if is_pattern else [word]


def _interrupt(folder: Path) -> None:
    """Make a run an interrupted one: pages go on with such runs."""
    content = json.loads((folder / "run.json").read_text())
    content["result"]["stopped_by"] = "interrupt"
    (folder / "run.json").write_text(json.dumps(content))


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run_in_their_order(
    page: Path, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "page"
    shutil.copytree(made, place)
    monkeypatch.chdir(place)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for number, line in enumerate(lines(page)):
        words = prepared(line, number, place)
        assert call(words) == "", line
        if words[0] == "fit" and "--dry-run" not in words:
            folder = place / words[words.index("--out") + 1]
            assert unmeasured(limits_in(line), folder) == [], line


def unmeasured(limits: list[str], folder: Path) -> list[str]:
    """List the limits without a value in any evaluation: their example would show nothing."""
    evaluations = read_log(RunFolder(folder)).evaluations
    columns = zip(*(one.constraints for one in evaluations if one.ok), strict=True)
    known = [any(map(math.isfinite, column)) for column in columns] or [False] * len(limits)
    return [limit for limit, is_known in zip(limits, known, strict=True) if not is_known]


def test_the_commands_run_are_many() -> None:
    assert sum(len(list(lines(page))) for page in RUN) > 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_block_that_is_not_run_has_a_reason(page: Path) -> None:
    for mark, _ in blocks(page):
        if mark.startswith("not run"):
            assert len(mark.removeprefix(NOT_RUN).split()) > 3, mark


def test_the_tutorials_run_in_ci() -> None:
    followed = runpy.run_path(str(ROOT / ".ci" / "tutorial.py"))
    assert ".ci/tutorial.py" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert sorted(followed["PAGES"]) == [page.name for page in TUTORIALS]
    assert len(TUTORIALS) >= 3


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_ends_in_a_certificate_and_leaves_out_no_command(page: Path) -> None:
    assert not any(mark for mark, _ in blocks(page))
    told = [line for line in lines(page) if line.startswith(PROGRAM)]
    assert any("--certify" in line and "--dry-run" not in line for line in told)
    assert any(line.startswith(f"{PROGRAM} verify") for line in told)


def test_a_limit_that_no_pipeline_has_is_found_out(made: Path) -> None:
    """A forest has no coefficients, and `--on-infeasible closest` is no way around that."""
    fit = "people.csv --target income --grammar mine.lark --out no-weights"
    limits = "--constraint 'coefficients <= 3' --constraint 'fpr <= 1'"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        line = f"{PROGRAM} fit {fit} {limits}"
        assert call(prepared(line, 0, made)).startswith("exit code 4")


def test_a_command_that_fails_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(["leaderboard", "nowhere"]).startswith("exit code 7")
