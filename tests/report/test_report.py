"""The report of a run: right numbers, one harmless page, and one line for bad input."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_runs import Page, an_evaluation, write_run

from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.core.evaluations import ENDED, Evaluation
from automl_admm.report.document.frame import POLICY
from automl_admm.report.page import SECTIONS
from automl_admm.report.writing import Report, make_report, write_report
from automl_admm.store.json_content import with_digest

STORED = Path(__file__).parents[1] / "runs" / "stored_run"
HOSTILE = (
    "</title></style><script>alert(1)</script>\"'<img src=x onerror=y>\x1b]0;t\x07\u202e=1+2&amp;"
)
# The sections that take no labelled rows.
OF_THE_FOLDER = {one.key for one in SECTIONS} - {
    *("conflicts", "rows", "curves", "thresholds", "residuals", "groups", "columns")
}
# Elements that load, run or send anything.
ACTIVE = {"script", "img", "link", "iframe", "object", "embed", "form", "base", "use", "image"}


def copied(name: str, tmp_path: Path) -> Path:
    """Return a copy of a finished, certified run."""
    return Path(shutil.copytree(STORED / name, tmp_path / "run"))


def content(report: Report) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report.content)
    return found


def page(report: Report) -> Page:
    return Page(report.page.decode())


def change(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(with_digest(json.loads(path.read_text()) | changes)))


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Evaluation], Report]:
    """A run of 60 evaluations that was killed before it saved a model."""
    evaluations = [an_evaluation(number) for number in range(1, 61)]
    return evaluations, make_report(write_run(tmp_path_factory.mktemp("k") / "run", evaluations))


def test_the_page_is_whole_and_small_and_loads_nothing(
    killed: tuple[list[Evaluation], Report],
) -> None:
    _, report = killed
    read = page(report)
    policies = [a for t, a in read.elements if t == "meta" and "http-equiv" in a]
    assert policies == [{"http-equiv": "Content-Security-Policy", "content": POLICY}]
    assert not ACTIVE & read.tags()
    assert not [a for _, a in read.elements if any(key.startswith("on") for key in a)]
    links = {a["href"] for t, a in read.elements if t == "a"}
    ids = [a["id"] for _, a in read.elements if "id" in a]
    assert links == {f"#{key}" for key in OF_THE_FOLDER}
    assert sorted(ids) == sorted(OF_THE_FOLDER)
    assert b"://" not in report.page
    assert len(report.page) < 300_000


def test_every_drawing_has_a_name_and_its_numbers(killed: tuple[list[Evaluation], Report]) -> None:
    drawings = [a for t, a in page(killed[1]).elements if t == "svg" and "aria-hidden" not in a]
    assert len(drawings) >= 2
    assert all(one["role"] == "img" and one["aria-label"] for one in drawings)
    assert "The numbers behind this figure" in page(killed[1]).text


def test_incumbents_and_limits_are_those_of_the_log(
    killed: tuple[list[Evaluation], Report],
) -> None:
    evaluations, report = killed
    found, best, expected = content(report), -math.inf, []
    for one in evaluations:
        if one.ok and one.constraints[0] <= 50.0 and 1.0 - one.loss > best:
            best = 1.0 - one.loss
            expected.append((one.number, best))
    listed = found["convergence"]["incumbents"]
    assert [(one["number"], one["score"]) for one in listed] == expected
    assert found["verdict"]["validation_score"] == best
    assert f"{best:.4f}" in page(report).text
    (limit,) = found["limits"]["limits"]
    assert limit["kept"] == sum(one.ok and one.constraints[0] <= 50.0 for one in evaluations)
    assert limit["measured"] == sum(one.ok for one in evaluations)


def test_a_killed_run_has_its_best_evaluation_and_no_model(
    killed: tuple[list[Evaluation], Report],
) -> None:
    found = content(killed[1])
    assert found["verdict"]["kind"] == "unfinished"
    assert found["verdict"]["state"].startswith("no longer written")
    assert "No model has been saved so far" in page(killed[1]).text
    assert not found["winner"]["is_shipped"]
    assert found["winner"]["script"] is None


def test_failures_that_differ_in_their_numbers_are_one_cause(
    killed: tuple[list[Evaluation], Report],
) -> None:
    evaluations, report = killed
    (cause,) = content(report)["failures"]["causes"]
    assert cause["evaluations"] == sum(not one.ok for one in evaluations)
    assert (cause["example"], cause["trace"]) == (7, "line 1\nend")
    assert "row 7 is odd" in page(report).text


def test_a_certificate_is_told_with_its_bound_and_confidence(tmp_path: Path) -> None:
    report = make_report(copied("stacked", tmp_path))
    found, certificate = (
        content(report),
        json.loads((tmp_path / "run/certificate.json").read_text()),
    )
    (limit,), (finding,) = found["limits"]["limits"], certificate["findings"]
    assert found["verdict"]["kind"] == "certified"
    assert limit["proof"]["bound"] == finding["bound"]
    assert limit["proof"]["verdict"] == finding["verdict"]
    assert found["limits"]["confidence"] == pytest.approx(1.0 - certificate["risk"])
    assert "Certified: the limit holds on new rows" in page(report).text


@pytest.mark.parametrize("changed", ["certificate.json", "model.json"])
def test_a_certificate_of_another_model_certifies_nothing(tmp_path: Path, changed: str) -> None:
    run = copied("stacked", tmp_path)
    if changed == "certificate.json":
        change(run / changed, pipeline="another()")
    else:
        change(run / changed, sha256="0" * 64)
    found = content(make_report(run))
    assert found["verdict"]["kind"] == "within"
    assert found["limits"]["is_certified"] is False
    assert any("proves nothing" in one for one in found["verdict"]["warnings"])


def test_a_report_changes_nothing_in_the_folder(tmp_path: Path) -> None:
    run = copied("group_thresholds", tmp_path)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    make_report(run)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_hostile_names_are_text(tmp_path: Path) -> None:
    evaluations = [
        an_evaluation(1, text=f"{HOSTILE}()", details={"steps": {HOSTILE: 1.0}}),
        an_evaluation(2),
        an_evaluation(7, message=HOSTILE, text=HOSTILE, details={HOSTILE: HOSTILE}),
    ]
    run = write_run(
        tmp_path / "run",
        evaluations,
        limit=HOSTILE,
        title=HOSTILE,
        versions={HOSTILE: HOSTILE},
        written=HOSTILE,
        result={"stopped_by": HOSTILE, "ledger": {HOSTILE: 1.0}},
        request={"source": HOSTILE, "looks": None, "only_python": [], "extra_plugins": []},
    )
    source = make_report(run).page.decode()
    read = Page(source)
    assert not ACTIVE & read.tags()
    assert not [a for _, a in read.elements if any(key.startswith("on") for key in a)]
    assert "alert(1)" in read.text
    assert not any(sign in source for sign in "\x1b\x07\u202e")
    assert {a["id"] for _, a in read.elements if "id" in a} == OF_THE_FOLDER


def test_five_thousand_evaluations_stay_small(tmp_path: Path) -> None:
    def ending(number: int) -> Evaluation:
        one = an_evaluation(number)
        return replace(one, details={**one.details, ENDED: 1.79e9 + 0.3 * number})

    begun = {"begun": "2026-09-21T14:13:20+00:00", "seconds": None}
    run = write_run(tmp_path / "run", map(ending, range(1, 5001)), sessions=[begun])
    report = make_report(run)
    assert content(report)["verdict"]["evaluations"] == 5000
    assert content(report)["convergence"]["estimated"] == 0
    assert len(report.page) < 300_000
    assert len(report.content) < 500_000


@pytest.mark.parametrize("evaluations", [[], [an_evaluation(7)]])
def test_a_run_without_a_success_has_a_report(
    tmp_path: Path, evaluations: list[Evaluation]
) -> None:
    report = make_report(write_run(tmp_path / "run", evaluations))
    assert content(report)["verdict"]["kind"] == "nothing"
    assert "there is no pipeline" in page(report).text


@pytest.mark.parametrize("gone", ["model.json", "model.skops"])
def test_a_saved_model_that_is_gone_is_damage(tmp_path: Path, gone: str) -> None:
    run = copied("stacked", tmp_path)
    change(run / "run.json", state="done")
    make_report(run)
    (run / gone).unlink()
    with pytest.raises(StoreError, match=f"holds no {gone}, though its run saved a model"):
        make_report(run)


def test_what_is_no_run_or_no_place_for_a_page_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"holds no run\.json"):
        make_report(tmp_path)
    run = copied("stacked", tmp_path)
    with pytest.raises(StoreError, match="cannot be written") as caught:
        write_report(run, tmp_path / "nowhere" / "report.html")
    assert not caught.value.hint
    (run / "report.json").mkdir()
    with pytest.raises(StoreError, match=r"json' cannot be written: .+ elsewhere: .+ -o FILE\."):
        write_report(run)
    with pytest.raises(ConfigurationError, match="the numbers, not of the page"):
        write_report(run, tmp_path / "report.json")
    (run / "store.sqlite").write_bytes(b"no database")
    with pytest.raises(StoreError):
        write_report(run, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_both_files_are_written(tmp_path: Path) -> None:
    run = copied("stacked", tmp_path)
    assert write_report(run) == (run / "report.html", run / "report.json")
    written = json.loads((run / "report.json").read_text())
    assert written.keys() == {"schema", *(one.key for one in SECTIONS)}


def test_a_limit_broken_on_rows_held_out_is_no_good_news(tmp_path: Path) -> None:
    run = copied("stacked", tmp_path)
    (run / "certificate.json").unlink()
    change(run / "model.json", held_out_constraints={"size_mb <= 1": 3.5})
    report = make_report(run)
    (limit,) = content(report)["limits"]["limits"]
    assert (limit["held_out"], limit["holds"], limit["holds_held_out"]) == (3.5, True, False)
    assert content(report)["verdict"]["kind"] == "broken"
    assert "BROKEN on rows it never saw (size_mb <= 1 is 3.5 there)" in page(report).text


def test_an_ensemble_is_told_by_its_members_and_their_shares(tmp_path: Path) -> None:
    run = copied("stacked", tmp_path)
    members = [
        {"evaluation": 2, "weight": 3, "pipeline": "a()", "validation_score": 0.8},
        {"evaluation": 1, "weight": 1, "pipeline": "b(c=1)", "validation_score": 0.7},
    ]
    single = {"evaluation": 2, "pipeline": "a()", "validation_score": 0.8}
    ensemble = {"members": members, "single": single, "gain": 0.01, "error": 0.002}
    change(run / "model.json", ensemble=ensemble, evaluation=None)
    report = make_report(run)
    shown = [(one["number"], one["share"]) for one in content(report)["winner"]["pieces"]]
    assert shown == [(2, 0.75), (1, 0.25)]
    assert "an ensemble of 2" in content(report)["verdict"]["sentence"]
    assert "75 % of the vote: #2" in page(report).text


@pytest.mark.parametrize(("kind", "told"), [("few rows", "makeshift"), ("constant", "nothing")])
def test_a_fallback_is_not_passed_off_as_a_model(tmp_path: Path, kind: str, told: str) -> None:
    run = copied("stacked", tmp_path)
    (run / "certificate.json").unlink()
    change(run / "model.json", fallback=kind, evaluation=None, pipeline="a model of few rows")
    report = make_report(run)
    assert content(report)["verdict"]["kind"] == told
    assert "in time" in content(report)["verdict"]["sentence"]
    assert "a model of few rows" in page(report).text
