"""Certificates that somebody edited, calls that take another time, rows that are fresh or not."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.builtin.constraints import resources
from automl_admm.cli.shared.run_command import load
from automl_admm.data.reading.tables import read_table
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.store.json_content import with_digest
from automl_admm.store.sqlite.log import SqliteStore

LIMITS = ("fpr <= 0.3", "fpr_gap[sex] <= 0.3", "size_mb <= 20")


def credit(seed: int, rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"income": rng.normal(size=rows), "debt": rng.normal(size=rows)})
    frame["sex"] = rng.choice(["f", "m"], rows)
    signal = 2.5 * frame["income"] - 2.5 * frame["debt"] + 0.8 * rng.normal(size=rows)
    frame["bad"] = np.where(signal > 0.0, "yes", "no")
    return frame


def fit(place: Path, limits: tuple[str, ...], evaluations: int) -> Path:
    """A folder with a certified run, its data, and its ledger of looks."""
    credit(3, 1500).to_csv(place / "credit.csv", index=False)
    loaded = load(place / "credit.csv", "bad", (), lambda path, options: (read_table(path), None))
    config = RunConfig(
        grammar="tiny",
        cv=2,
        max_evaluations=evaluations,
        theta_solver="random",
        executor="inline",
        constraints=limits,
        certify=0.95,
        looks=place / "looks.json",
        work_dir=place / "out",
    )
    assert run_pipelines(prepare(config, loaded.X, loaded.y, loaded.sensitive)).is_certified
    return place


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fit(tmp_path_factory.mktemp("certified"), LIMITS, 5)


@pytest.fixture(scope="module")
def certified_timed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fit(tmp_path_factory.mktemp("timed"), ("fpr <= 0.3", "latency_us <= 90000"), 1)


@pytest.fixture
def folder(certified: Path, tmp_path: Path) -> Path:
    """A copy of it, to be edited."""
    return copied(certified, tmp_path)


@pytest.fixture
def timed(certified_timed: Path, tmp_path: Path) -> Path:
    """A copy of one whose calls were timed, to be edited."""
    return copied(certified_timed, tmp_path)


def copied(certified: Path, place: Path) -> Path:
    shutil.copytree(certified / "out", place / "out")
    shutil.copy(certified / "credit.csv", place / "credit.csv")
    return place / "out"


def edit(folder: Path, change: Callable[[dict[str, Any]], object], *, signed: bool) -> None:
    """Edit the certificate; `signed` puts its new hash into the manifest of the model."""
    path, manifest = folder / "certificate.json", folder / "model.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content, indent=2) + "\n")
    if signed:
        said = json.loads(manifest.read_text())
        said["certificate_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        manifest.write_text(json.dumps(with_digest(said)))


def another(value: Any) -> Any:
    """A value of the same kind that is not this one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value * 0.5 if isinstance(value, float) else value + 8
    if isinstance(value, str):
        return "violated" if value == "certified" else f"{value}0"
    if isinstance(value, list):
        return [*value[1:], *value[:1], "another"]
    if isinstance(value, dict):
        return {name: another(one) for name, one in value.items()} | {"another": 1}
    return 12


def fields(content: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Every field of a certificate, those of its first and of its last finding among them."""
    own = [(name,) for name in content if name != "findings"]
    count = len(content["findings"])
    return own + [
        ("findings", place, name) for place in (0, count - 1) for name in content["findings"][0]
    ]


def test_the_data_of_a_certified_run_agree_and_what_cannot_be_computed_is_said(
    run: Any, folder: Path
) -> None:
    done = run("verify", "out", "credit.csv")
    assert done.code == 0, done.out
    assert done.out.endswith("the data agree: CERTIFIED\n")
    assert "not computed again: the time at which it was made" in done.out
    assert "no ledger" not in done.out
    # The stops before the model's own are of its fit and its predictions: they are tested again.
    content = json.loads((folder / "certificate.json").read_text())
    own = content["order"][content["position"] - 1].partition("#")[0]
    before = content["order"][: content["position"] - 1]
    others = sum(not name.startswith(f"{own}#") for name in before)
    assert ("before it in the order" in done.out) == (others > 0)
    assert json.loads((folder / "certificate.json").read_text())["look"] == 1

    places = json.loads((folder / "certification-rows.json").read_text())["places"]
    pd.read_csv("credit.csv").iloc[places].to_csv("aside.csv", index=False)
    done = run("verify", "out", "aside.csv")
    assert done.code == 0, done.out
    assert "not computed again: the order of the test: it follows from all the data" in done.out
    assert "not computed again: that the search had none of these rows" in done.out


@pytest.mark.fault(
    "F71",
    injected="each field of certificate.json changed, one at a time",
    expected="every one refused, and nothing claimed",
)
def test_a_certificate_that_was_edited_is_refused(run: Any, folder: Path, seen: Any) -> None:
    whole = (folder / "certificate.json").read_text()
    # The hash sees a change of the first finding as one of the last.
    names = [name for name in fields(json.loads(whole)) if name[:2] != ("findings", 0)]
    for name in names:
        (folder / "certificate.json").write_text(whole)

        def change(content: dict[str, Any], name: tuple[Any, ...] = name) -> None:
            for part in name[:-1]:
                content = content[part]
            content[name[-1]] = another(content[name[-1]])

        edit(folder, change, signed=False)
        done = run("verify", "out", "credit.csv")
        assert done.code in (6, 7), (name, done.out)
        assert "with probability" not in done.out, name
    seen(f"{len(names)} of {len(names)} refused with exit code 6 or 7")


@pytest.mark.fault(
    "F71",
    injected="the same, and the hash of the certificate in model.json forged too",
    expected="what model, data and log say otherwise is refused",
)
def test_a_forged_certificate_is_computed_again(run: Any, folder: Path, seen: Any) -> None:
    certificate, manifest = folder / "certificate.json", folder / "model.json"
    kept = certificate.read_text(), manifest.read_text()
    # Nobody can compute these again: the output says so of the time, and never prints the others.
    unknown = {"time", "reason", "token"}
    names = [name for name in fields(json.loads(kept[0])) if name[-1] not in unknown]
    for name in names:
        certificate.write_text(kept[0])
        manifest.write_text(kept[1])

        def change(content: dict[str, Any], name: tuple[Any, ...] = name) -> None:
            for part in name[:-1]:
                content = content[part]
            content[name[-1]] = another(content[name[-1]])

        edit(folder, change, signed=True)
        done = run("verify", "out", "credit.csv")
        assert done.code in (6, 7), (name, done.out)
        assert "is not the file that the run wrote" not in done.out
    seen(f"{len(names)} of {len(names)} refused with exit code 6 or 7")


def test_risk_look_and_position_that_fit_each_other_are_refused(run: Any, folder: Path) -> None:
    position = json.loads((folder / "certificate.json").read_text())["position"]
    more = {"risk": 1e-5, "look": 9, "risk_spent": 1e-5 / 2**9, "position": 7}
    edit(folder, lambda content: content.update(more), signed=True)
    done = run("verify", "out", "credit.csv")
    assert done.code == 6
    assert "DIFFERS: The risk: the certificate says 1e-05, and it is 0.05." in done.out
    assert "DIFFERS: The number of the look: the certificate says 9, and it is 1." in done.out
    assert (
        f"DIFFERS: The position in that order: the certificate says 7, and it is {position}."
        in done.out
    )
    assert "0.001 %" not in done.out


def test_on_another_machine_the_look_is_not_vouched_for(
    run: Any, folder: Path, tmp_path: Path
) -> None:
    said = json.loads((folder / "model.json").read_text())
    said["run"]["request"]["looks"] = str(tmp_path / "none.json")
    (folder / "model.json").write_text(json.dumps(with_digest(said)))
    done = run("verify", "out", "credit.csv")
    assert done.code == 0
    assert "not computed again: that it is look 1 at these data: no ledger" in done.out


@pytest.mark.fault(
    "F74",
    injected="a machine that is so busy that calls take longer than the limit on them",
    expected="said; the verdict on the data stays",
)
def test_calls_that_take_longer_now_change_no_verdict(
    run: Any, timed: Path, monkeypatch: pytest.MonkeyPatch, seen: Any
) -> None:
    monkeypatch.setattr(resources, "_time_call", lambda call, rows: (call(rows), (500.0, 500.0))[1])
    path = timed / "certification-rows.json"
    said = json.loads(path.read_text())
    assert set(said["machine"]) >= {"processor", "cores", "system"}
    assert not any(platform.node() == fact for fact in said["machine"].values())
    said["machine"]["processor"] = "Abacus 3000"
    path.write_text(json.dumps(said))
    done = run("verify", "out", "credit.csv")
    assert done.code == 0, done.out
    assert "not computed again: what was timed or measured in the run" in done.out
    assert "decides nothing: latency_us <= 90000: violated" in done.out
    assert "another machine than that of the run: processor: Abacus 3000 in the run, " in done.out
    assert "cores: " not in done.out
    assert done.out.endswith("the data agree: CERTIFIED\n")
    seen("told as violated now, exit code 0")


def test_a_record_of_calls_that_was_edited_is_refused(run: Any, timed: Path) -> None:
    path = timed / "certification-rows.json"
    said = json.loads(path.read_text())
    said["measured"]["latency_us <= 90000"] = [1.0] * 70
    path.write_text(json.dumps(said))
    done = run("verify", "out", "credit.csv")
    assert done.code == 6
    assert "DIFFERS: latency_us <= 90000: the value was" in done.out


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"rows": 10, "places": [99]}', '{"rows": 10, "places": [1, 1]}',
     '{"rows": 10, "places": [1], "groups": 3}'],
)  # fmt: skip
def test_a_damaged_record_of_rows_is_one_line(run: Any, folder: Path, content: str) -> None:
    (folder / "certification-rows.json").write_text(content)
    done = run("verify", "out", "credit.csv")
    assert done.code == 7
    assert "certification-rows.json' " in done.err
    assert "is damaged" in done.err or "cannot be read" in done.err


def test_rows_that_the_search_had_are_no_rows_set_aside(run: Any, folder: Path) -> None:
    path = folder / "certification-rows.json"
    said = json.loads(path.read_text())
    said["places"] = sorted({*range(said["rows"])} - {*said["places"]})
    path.write_text(json.dumps(said))
    done = run("verify", "out", "credit.csv")
    assert done.code == 6
    assert "DIFFERS: These are other rows" in done.out
    assert "not those that the run searched on" in done.out


def test_the_order_is_not_computed_from_a_log_that_lost_pipelines(run: Any, folder: Path) -> None:
    """As a session with another grammar leaves it: what is gone cannot be ordered."""
    with closing(SqliteStore(folder / "store.sqlite", write=True)) as store:
        first, *others = store.read()
        assert others
        store.begin_anew([first])
    done = run("verify", "out", "credit.csv")
    assert done.code == 0, done.out
    assert "not computed again: the order of the test: the log of its session is not in" in done.out
    assert done.out.endswith("the data agree: CERTIFIED\n")


def test_fresh_rows_are_tested_and_not_compared(run: Any, folder: Path) -> None:
    fresh = credit(4, 800)
    fresh.to_parquet("fresh.parquet", index=False)
    done = run("verify", "out", "fresh.parquet", "--fresh")
    assert done.code == 0, done.err
    assert "with probability at most 5 %" in done.out
    assert "This is one look at these rows, at 95 %" in done.out
    assert done.out.endswith("on these rows: CERTIFIED\n")

    fresh.assign(bad=np.where(fresh["bad"] == "yes", "no", "yes")).to_csv("turned.csv")
    done = run("verify", "out", "turned.csv", "--fresh")
    assert done.code == 6
    assert "fpr <= 0.3: violated: it is at least 0." in done.err
    assert "not certified on these rows" in done.err
    assert "DIFFERS" not in done.out

    done = run("verify", "out", "fresh.parquet")
    assert done.code == 3
    assert "with --fresh rows that the run never saw" in done.err


@pytest.mark.parametrize("more", [(), ("--fresh",)], ids=["again", "fresh"])
def test_what_is_verified_is_there_for_programs(
    run: Any, folder: Path, more: tuple[str, ...]
) -> None:
    own, other = "credit.csv", "other.csv"
    if more:
        fresh = credit(4, 800)
        fresh.assign(bad=np.where(fresh["bad"] == "yes", "no", "yes")).to_csv(other, index=False)
        fresh.to_csv(own := "fresh.csv", index=False)
    else:
        credit(3, 1500).assign(debt=0.0).to_csv(other, index=False)
    for data, code in ((own, 0), (other, 6)):
        done = run("verify", "out", data, "--json", *more)
        content = json.loads(done.out)
        assert (done.code, content["certified"]) == (code, code == 0)
        assert {one["limit"] for one in content["findings"]} >= set(LIMITS[:2])
        assert bool(content.get("differences")) == (code == 6 and not more)


def test_a_group_that_fresh_rows_lack_or_that_is_new_is_told(run: Any, folder: Path) -> None:
    fresh = credit(4, 400)
    fresh[fresh["sex"] == "f"].to_csv("women.csv", index=False)
    done = run("verify", "out", "women.csv", "--fresh")
    assert done.code == 6
    assert "fpr_gap[sex] <= 0.3: not estimable: group 'm' has no rows" in done.err
    fresh.loc[0, "sex"] = "x"
    fresh.to_csv("new.csv", index=False)
    done = run("verify", "out", "new.csv", "--fresh")
    assert done.code == 3
    assert "a group that is new: 'x'" in done.err
    fresh.assign(bad="maybe").to_csv("labels.csv", index=False)
    done = run("verify", "out", "labels.csv", "--fresh")
    assert done.code == 3
    assert "line 2: column 'bad' holds 'maybe', which is no class of the run" in done.err
    fresh.loc[3, "bad"] = None
    fresh.to_csv("gap.csv", index=False)
    done = run("verify", "out", "gap.csv", "--fresh")
    assert done.code == 3
    assert "'bad' is missing in 1 of 400 rows, first in gap.csv, line 5." in done.err


@pytest.mark.fault(
    "F72",
    injected="rows of the run among rows that are said to be fresh, shuffled, in another format",
    expected="refused where they are many, told where they are few",
)
def test_rows_of_the_run_are_not_fresh(run: Any, folder: Path, seen: Any) -> None:
    known, fresh = pd.read_csv("credit.csv"), credit(4, 800)
    mixed = pd.concat([known.head(200), fresh]).sample(frac=1.0, random_state=0)
    mixed[mixed.columns[::-1]].to_parquet("mixed.parquet", index=False)
    done = run("verify", "out", "mixed.parquet", "--fresh")
    assert done.code == 3
    assert (
        "200 of the 1000 rows of mixed.parquet are rows of the run: they are not fresh" in done.err
    )
    assert "CERTIFIED" not in done.out
    pd.concat([known.head(3), fresh]).to_csv("few.csv", index=False)
    done = run("verify", "out", "few.csv", "--fresh")
    assert done.code == 0
    assert "warning: 3 of the 803 rows are equal to rows of the run" in done.err
    seen("200 of 1000: exit code 3; 3 of 803: a warning")


def test_rows_in_another_order_are_told_as_that(run: Any, folder: Path) -> None:
    whole = pd.read_csv("credit.csv")
    places = json.loads((folder / "certification-rows.json").read_text())["places"]
    for rows, whose in ((whole, "of the run"), (whole.iloc[places], "that the run set aside")):
        rows.sample(frac=1.0, random_state=0).to_csv("shuffled.csv", index=False)
        done = run("verify", "out", "shuffled.csv")
        assert done.code == 3
        assert f"shuffled.csv has the rows {whose} in another order. Which rows" in done.err
        assert "give them in the order that they had in the run" in done.err
        assert "CERTIFIED" not in done.out
    whole.assign(debt=whole["debt"] + 1).sample(frac=1.0).to_csv("others.csv", index=False)
    done = run("verify", "out", "others.csv")
    assert done.code == 6
    assert "DIFFERS: These are other rows" in done.out


@pytest.mark.parametrize("arguments", [("credit.csv", "--fresh"), ("credit.csv",)])
def test_hashes_of_rows_that_are_gone_or_of_other_rows_are_no_proof_of_freshness(
    run: Any, folder: Path, arguments: tuple[str, ...]
) -> None:
    path = folder / "row-hashes.npy"
    others = np.zeros_like(np.load(path))
    with path.open("wb") as file:
        for _ in range(4):
            np.save(file, others)
    done = run("verify", "out", *arguments)
    assert (done.code, done.out) == (7, "")
    assert "row-hashes.npy' cannot be read: it is of other rows than the certificate" in done.err
    path.unlink()
    done = run("verify", "out", *arguments)
    assert (done.code, done.out) == (7, "")
    assert "row-hashes.npy' is missing" in done.err


def test_places_of_rows_that_are_gone_are_named(run: Any, folder: Path) -> None:
    (folder / "certification-rows.json").unlink()
    done = run("verify", "out", "credit.csv")
    assert done.code == 7
    assert "certification-rows.json' is missing" in done.err


@pytest.mark.parametrize("content", [b"", b"nothing", b"\x93NUMPY\x01\x00"])
def test_damaged_hashes_of_rows_are_one_line(run: Any, folder: Path, content: bytes) -> None:
    (folder / "row-hashes.npy").write_bytes(content)
    credit(4, 60).to_csv("fresh.csv", index=False)
    for command in (("fresh.csv", "--fresh"), ("credit.csv",)):
        done = run("verify", "out", *command)
        assert done.code == 7
        assert "row-hashes.npy' cannot be read" in done.err
