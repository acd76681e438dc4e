from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from shared_runs import at, copied, ended

ASKED = ("--target", "bad", "--constraint", "fpr <= 0.3", "--certify", "0.95")
SEARCH = (
    *("--grammar", "tiny", "--cv=0.25", "--max-evaluations", "2", "--theta-solver", "random"),
    *("--executor", "inline", "--out", "out"),
)


@pytest.fixture(scope="module")
def credit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough rows to certify something, with a group to compare."""
    rng = np.random.default_rng(3)
    rows = 1500
    frame = pd.DataFrame({"income": rng.normal(size=rows), "debt": rng.normal(size=rows)})
    frame["sex"] = rng.choice(["f", "m"], rows)
    signal = 2.5 * frame["income"] - 2.5 * frame["debt"] + 0.8 * rng.normal(size=rows)
    frame["bad"] = np.where(signal > 0.0, "yes", "no")
    path = tmp_path_factory.mktemp("credit") / "credit.csv"
    frame.to_csv(path, index=False)
    return path


def fitted(credit: Path, place: Path, *more: str) -> Path:
    """Lay a certified run into a folder, with the ledger of its look."""
    with at(place):
        assert not ended("fit", credit, *ASKED, *SEARCH, *more).code
    return place


@pytest.fixture(scope="module")
def first_look(credit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fitted(credit, tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def last_look(credit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fitted(credit, tmp_path_factory.mktemp("last"), "--last-look")


@pytest.fixture
def certified(run: Any, first_look: Path, state_home: Path) -> Path:
    """A copy of a certified run, to be changed."""
    return copied(first_look, state_home)


@pytest.fixture
def looked_last(run: Any, last_look: Path, state_home: Path) -> Path:
    """A copy of one that has had its last look."""
    return copied(last_look, state_home)


def certificate(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "certificate.json").read_text())


def test_limits_are_certified_and_verified(run: Any, credit: Path, tmp_path: Path) -> None:
    limits = ("--constraint", "fpr <= 0.3", "--constraint", "size_mb <= 50")
    done = run("fit", credit, "--target", "bad", *limits, "--certify", "0.95", *SEARCH)
    assert done.code == 0, done.err
    assert "rows set aside to certify the limits at 95 %" in done.err
    assert "the search aims at fpr <= 0." in done.err
    assert "certificate    CERTIFIED" in done.out
    assert "fpr <= 0.3: " in done.out
    assert ": certified, it is at most 0." in done.out
    found = certificate(tmp_path / "out")
    assert found["look"] == 1
    assert found["risk_spent"] == pytest.approx(0.025)
    assert [finding["verdict"] for finding in found["findings"]] == ["certified", "certified"]
    assert found["findings"][0]["bound"] <= 0.3
    shipped = (tmp_path / "out" / "model.skops").stat().st_size
    assert found["findings"][1]["value"] == shipped / 1e6

    board = run("leaderboard", "out")
    assert "what shipped, on rows set aside" in board.out
    assert "certified: it is at most 0." in board.out

    again = run("verify", "out", credit)
    assert again.code == 0, again.err
    assert "the data agree: CERTIFIED" in again.out
    assert "with probability at most 2.5 %" in again.out


def test_a_high_confidence_is_never_told_as_certainty(run: Any, credit: Path) -> None:
    limits = ("--constraint", "size_mb <= 50", "--certify", "0.9999", "--last-look")
    done = run("fit", credit, "--target", "bad", *limits, *SEARCH)
    assert done.code == 0, done.err
    assert "set aside to certify the limits at 99.99 %" in done.err
    assert run("report", "out", "-o", "page.html").code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "99.99 % confidence" in page
    assert "CERTIFIED at 99.99 %" in run("compare", "out", "out").out
    for said in (done.err, page):
        assert "at 100 %" not in said


def test_a_last_look_spends_the_whole_risk_and_ends_the_looks(
    run: Any, credit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("fit", credit, "--target", "bad", "--constraint", "fpr <= 0.3", "--certify", "0.95")
    search = (*SEARCH[:-2], "--seed", "1")
    done = run(*asked, *search, "--last-look", "--out", "out")
    assert done.code == 0, done.err
    assert "look 1 at these data, the last, at 5 % of risk" in done.err
    found = certificate(tmp_path / "out")
    assert (found["look"], found["is_last_look"]) == (1, True)
    assert found["risk_spent"] == pytest.approx(0.05)
    again = run("verify", "out", credit)
    assert again.code == 0, again.err
    assert "have been issued with probability at most 5 %" in again.out
    assert "look 1 at these rows, and the last" in again.out
    for other in (("--seed", "2"), ("--seed", "1", "--last-look"), ("--seed", "2", "--dry-run")):
        refused = run(*asked, *SEARCH[:-2], *other, "--out", "other", "--max-evaluations", "3")
        assert (refused.code, refused.out) == (2, "")
        (line,) = refused.err.splitlines()
        assert "these data have had their last look" in line
        assert "Fit on new rows, or without --certify." in line
    assert not (tmp_path / "other").exists()
    # The same search again asks the same question.
    same = run(*asked, *search, "--last-look", "--out", "same")
    assert same.code == 0, same.err
    assert certificate(tmp_path / "same")["risk_spent"] == pytest.approx(0.05)
    # A folder takes its last look along.
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))
    before = (tmp_path / "out" / "model.json").read_bytes()
    resumed = run("resume", "out", "--max-evaluations", "4")
    assert resumed.code == 2
    assert "these data have had their last look" in resumed.err
    assert (tmp_path / "out" / "model.json").read_bytes() == before
    assert run("verify", "out", credit).code == 0


def test_a_last_look_after_another_spends_what_is_left(
    run: Any, credit: Path, tmp_path: Path
) -> None:
    asked = ("fit", credit, "--target", "bad", "--constraint", "fpr <= 0.3", "--certify", "0.95")
    assert run(*asked, *SEARCH[:-2], "--seed", "1", "--out", "first").code == 0
    done = run(*asked, *SEARCH[:-2], "--seed", "2", "--last-look", "--out", "second")
    assert done.code == 0, done.err
    found = certificate(tmp_path / "second")
    assert (found["look"], found["is_last_look"]) == (2, True)
    assert found["risk_spent"] == pytest.approx(0.025)
    assert run("verify", "second", credit).code == 0


@pytest.mark.parametrize(
    "other",
    [("--group", "person"), ("--time", "person"), ("--weight", "heavy"), ()],
    ids=["group", "time", "weight", "dropped"],
)
def test_the_same_rows_are_known_under_other_roles_of_other_columns(
    other: tuple[str, ...], looked_last: Path, run: Any, credit: Path, tmp_path: Path
) -> None:
    frame = pd.read_csv(credit)
    frame["person"], frame["heavy"] = np.arange(len(frame))[::-1], 1.5
    frame.to_csv(tmp_path / "more.csv", index=False)
    dropped = [name for name in ("person", "heavy") if name not in other]
    kinds = [word for name in dropped for word in ("--column", f"{name}=drop")]
    again = run("fit", "more.csv", *ASKED, *SEARCH[:-1], "again", *other, *kinds)
    assert again.code == 2, again
    assert "these data have had their last look" in again.err


def test_a_last_look_is_known_by_the_certificate_where_the_looks_are_gone(
    run: Any, looked_last: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (looked_last / "looks.json").unlink()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))
    resumed = run("resume", "out", "--max-evaluations", "4")
    assert resumed.code == 2
    assert "these data have had their last look" in resumed.err


def test_a_certified_model_is_kept_where_a_session_with_other_limits_certifies_none(
    run: Any, credit: Path, certified: Path, tmp_path: Path
) -> None:
    folder = tmp_path / certified
    names = ("model.skops", "model.json", "certificate.json", "certification-rows.json")
    before = {name: (folder / name).read_bytes() for name in (*names, "row-hashes.npy")}
    changed = ("--constraint", "recall >= 0.9999", "--on-infeasible", "closest", "--allow-changed")
    for number in (1, 2):
        done = run("resume", "out", *changed, "--max-evaluations", str(2 + number))
        assert ("the certified one of an earlier session is kept in" in done.err) == (number == 1)
        assert (folder / "model.skops").read_bytes() != before["model.skops"]
    kept = folder / "certified-1"
    assert {name: (kept / name).read_bytes() for name in before} == before
    assert not (folder / "certified-2").exists()
    assert run("predict", kept, credit, "-o", "told.csv").code == 0
    verified = run("verify", kept, credit)
    assert verified.code == 0, verified
    assert "the data agree: CERTIFIED" in verified.out
    assert "the log of its session is not in this folder" in verified.out
    assert "no ledger on this machine knows of it" not in verified.out
    assert "rows that the model learned from" in run("evaluate", kept, credit).err
    for command in ("report", "leaderboard", "resume"):
        refused = run(command, kept)
        assert refused.code == 7
        assert "A model alone is for predict, evaluate, monitor and verify" in refused.err


def test_a_run_goes_on_with_the_share_set_aside_that_another_version_planned(
    run: Any, credit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("fit", credit, "--target", "bad", "--constraint", "fpr <= 0.3", "--certify", "0.95")
    relative = ("--constraint", "size_mb <= 50 * baseline")
    with monkeypatch.context() as patched:
        patched.setattr("automl_admm.runs.prepare.set_aside.LEAST_FRACTION", 0.45)
        assert run(*asked, *relative, *SEARCH).code == 0
    places = tmp_path / "out" / "certification-rows.json"
    before = places.read_bytes()
    done = run("resume", "out", "--max-evaluations", "3")
    assert done.code == 0, done.err
    assert json.loads(before)["fraction"] == 0.45
    assert places.read_bytes() == before
    other = ("--constraint", "fpr <= 0.31", *relative, "--allow-changed", "--max-evaluations", "3")
    assert run("resume", "out", *other).code == 0
    assert json.loads(places.read_text())["fraction"] < 0.45


def test_rows_set_aside_by_another_run_are_refused(run: Any, credit: Path, certified: Path) -> None:
    assert run("fit", credit, *ASKED, *SEARCH[:-1], "second").code == 0
    shutil.copy("second/certification-rows.json", certified)
    for command in ("verify", "evaluate", "monitor"):
        refused = run(command, certified, credit)
        assert (refused.code, refused.out) == (7, ""), command
        assert "certification-rows.json' is of another run than 'store.json'" in refused.err


def test_the_mark_of_a_last_look_cannot_be_written_into_a_certificate(
    run: Any, credit: Path, certified: Path
) -> None:
    path = certified / "certificate.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"is_last_look": True}))
    done = run("verify", "out", credit)
    assert done.code == 6
    assert "risk that this look may spend" in done.out


def test_a_last_look_without_a_certificate_is_refused(run: Any, credit: Path) -> None:
    done = run("fit", credit, "--target", "bad", "--last-look", *SEARCH)
    assert done.code == 2
    assert "a last look needs a confidence. Add --certify 0.95." in done.err


def test_verify_takes_the_rows_set_aside_alone(
    run: Any, credit: Path, certified: Path, tmp_path: Path
) -> None:
    places = json.loads((certified / "certification-rows.json").read_text())["places"]
    pd.read_csv(credit).iloc[places].to_csv(tmp_path / "aside.csv", index=False)
    assert run("verify", "out", "aside.csv").code == 0


def test_other_rows_another_model_and_other_numbers_are_told(
    run: Any, credit: Path, certified: Path, tmp_path: Path
) -> None:
    frame = pd.read_csv(credit)
    turned = frame.assign(bad=np.where(frame["bad"] == "yes", "no", "yes"))
    turned.to_csv(tmp_path / "turned.csv", index=False)
    done = run("verify", "out", "turned.csv")
    assert done.code == 6
    assert "DIFFERS: These are other rows" in done.out
    assert "is not what these data say" in done.err

    frame.head(7).to_csv(tmp_path / "few.csv", index=False)
    done = run("verify", "out", "few.csv")
    assert done.code == 3
    assert "few.csv has 7 rows, and the run had 1500" in done.err

    content = certificate(tmp_path / "out")
    content["findings"][0]["bound"] = 0.001
    (tmp_path / "out" / "certificate.json").write_text(json.dumps(content))
    done = run("verify", "out", credit)
    assert done.code == 6
    assert "the bound was 0.001, and is" in done.out


def test_too_few_rows_are_told_before_and_end_with_6(
    run: Any, credit: Path, tmp_path: Path
) -> None:
    few = tmp_path / "few.csv"
    pd.read_csv(credit).head(200).to_csv(few, index=False)
    limit = ("--constraint", "fpr <= 0.12")
    aside = ("--certify", "0.95", "--certify-fraction", "0.35")
    in_parts = ["--cv=2" if word == "--cv=0.25" else word for word in SEARCH]
    done = run("fit", few, "--target", "bad", *limit, *aside, *in_parts)
    assert "warning: your " in done.err
    assert done.code in (5, 6)
    assert "certificate" in done.out
    assert "NOT CERTIFIED" in done.out
    assert (tmp_path / "out" / "model.skops").exists()
    assert run("verify", "out", few).code == 6
    closest = (*SEARCH[:-1], "other", "--on-infeasible", "closest")
    assert run("fit", few, "--target", "bad", *limit, *aside, *closest).code == 0


def test_another_look_at_the_same_rows_has_less_risk(
    run: Any, credit: Path, certified: Path, tmp_path: Path
) -> None:
    command = ("fit", credit, "--target", "bad", "--certify", "0.95", *SEARCH[:-1])
    done = run(*command, "two", "--constraint", "fnr <= 0.3")
    assert "look 2 at these data, at 1.25 % of risk" in done.err
    assert certificate(tmp_path / "two")["risk_spent"] == pytest.approx(0.0125)
    assert certificate(tmp_path / "two")["look"] == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--certify", "1.5", "--constraint", "fpr <= 0.1"), "must be in [0.5, 1), not 1.5"),
        (("--certify", "0.95"), "there is no limit to certify"),
        (("--certify-fraction", "0.2", "--constraint", "fpr <= 0.1"), "needs a confidence"),
    ],
)
def test_what_makes_no_sense_is_refused(
    run: Any, credit: Path, given: tuple[str, ...], said: str
) -> None:
    done = run("fit", credit, "--target", "bad", *given, *SEARCH)
    assert done.code == 2
    assert said in done.err


def test_a_run_without_a_certificate_cannot_be_verified(run: Any, credit: Path) -> None:
    run("fit", credit, "--target", "bad", *SEARCH)
    done = run("verify", "out", credit)
    assert done.code == 7
    assert "holds no certificate" in done.err


def test_a_gap_between_groups_that_only_limits_know(run: Any, credit: Path) -> None:
    limits = ("--sensitive", "sex", "--constraint", "auc_gap[sex] <= 0.2")
    done = run("fit", credit, "--target", "bad", *limits, "--certify", "0.95", *SEARCH)
    assert done.code == 0, done.err
    assert "auc_gap[sex] <= 0.2: " in done.out
    assert run("verify", "out", credit).code == 0


@pytest.mark.fault(
    "F73",
    injected="a certificate shopped for: other seeds, another share, the rows shuffled",
    expected="each is another look, with half the risk of the last",
)
def test_seeds_shares_and_orders_of_the_same_data_are_looks_and_a_run_made_again_is_not(
    run: Any, credit: Path, tmp_path: Path, seen: Any
) -> None:
    shuffled = tmp_path / "shuffled.csv"
    frame = pd.read_csv(credit)
    frame.sample(frac=1.0, random_state=1)[frame.columns[::-1]].to_csv(shuffled, index=False)
    limit = ("--constraint", "fpr <= 0.3", "--certify", "0.95", "--target", "bad", *SEARCH[:-1])
    asked: list[tuple[Path, tuple[str, ...], int]] = [
        (credit, ("--seed", "0"), 1),
        (credit, ("--seed", "1"), 2),
        (credit, ("--seed", "0"), 1),
        (credit, ("--seed", "1", "--certify-fraction", "0.3"), 3),
        (shuffled, ("--seed", "0"), 4),
    ]
    few = ("--max-evaluations", "2")
    for number, (data, more, look) in enumerate(asked):
        done = run("fit", data, *more, *limit, f"run-{number}", *few)
        told = f"look {look} at these data, at "
        assert (told in done.err) is (look > 1), (number, done.err)
        assert f"(look {look} at these data)" in done.out
        assert certificate(tmp_path / f"run-{number}")["look"] == look
        assert certificate(tmp_path / f"run-{number}")["risk_spent"] == pytest.approx(
            0.05 / 2**look
        )
    seen("looks 1, 2, 1 (made again), 3 and 4, as told before each search")


def test_a_run_within_a_time_budget_is_another_look_each_time(
    run: Any, credit: Path, tmp_path: Path
) -> None:
    limit = ("--constraint", "fpr <= 0.3", "--certify", "0.95", "--target", "bad")
    search = ("--budget", "100s", *SEARCH[:-1])
    for look in (1, 2):
        done = run("fit", credit, *limit, *search, f"run-{look}")
        assert f"(look {look} at these data)" in done.out, done.err
        assert (f"look {look} at these data, at" in done.err) is (look > 1)


def test_the_same_model_keeps_the_stronger_certificate_of_an_earlier_look(
    run: Any, credit: Path, tmp_path: Path
) -> None:
    limit = ("--constraint", "fpr <= 0.3", "--certify", "0.95", "--target", "bad")
    assert run("fit", credit, *limit, "--no-ensemble", *SEARCH, "--max-evaluations=3").code == 0
    kept = ("model.skops", "model.json", "certificate.json")
    before = [(tmp_path / "out" / name).read_bytes() for name in kept]
    best = json.loads(before[1])["evaluation"]
    done = run("resume", "out", "--max-evaluations", "4", "--executor", "inline")
    assert json.loads((tmp_path / "out" / "model.json").read_text())["evaluation"] == best
    assert "the model that an earlier look (1) certified stays" in done.err
    assert [(tmp_path / "out" / name).read_bytes() for name in kept] == before
    assert "(look 1 at these data)" in done.out
    assert run("verify", "out", credit).code == 0
