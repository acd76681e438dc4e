"""A limit with a confidence of its own, from the command line to the proof on another machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.store.json_content import with_digest

LIMITS = ("--constraint", "fpr <= 30 % @ 99 %", "--constraint", "fnr <= 0.4")
SEARCH = (
    *("--target", "bad", "--certify", "0.9", "--grammar", "tiny", "--cv=2"),
    *("--max-evaluations", "2", "--theta-solver", "random", "--executor", "inline"),
    *("--out", "out"),
)


@pytest.fixture
def credit(tmp_path: Path) -> Path:
    rng, rows = np.random.default_rng(3), 1200
    frame = pd.DataFrame({"income": rng.normal(size=rows), "debt": rng.normal(size=rows)})
    signal = 2.5 * frame["income"] - 2.5 * frame["debt"] + 0.8 * rng.normal(size=rows)
    frame["bad"] = (signal > 0.0).astype(int)
    path = tmp_path / "credit.csv"
    frame.to_csv(path, index=False)
    return path


def content(path: str) -> dict[str, Any]:
    return json.loads(Path(path).read_text())


def test_it_goes_from_the_text_to_every_later_command(
    run: Any, credit: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("fit", credit, *LIMITS, *SEARCH)
    assert done.code == 0, done.err
    assert "rows set aside to certify the limits at 90 %" in done.err
    assert "of them at a confidence of their own: fpr <= 0.3 @ 0.99" in done.err
    assert "the search aims at fpr <= 0." in done.err
    moved = {"at_least": False, "by_threshold": True, "of_baseline": None}
    assert content("out/run.json")["settings"]["limits"] == [
        {**moved, "name": "fpr", "bound": 0.3, "confidence": 0.99},
        {**moved, "name": "fnr", "bound": 0.4},
    ]
    own, plain = content("out/certificate.json")["findings"]
    assert own["limit"] == "fpr <= 0.3 @ 0.99"
    assert own["risk"] == pytest.approx(0.005)
    assert "risk" not in plain

    # Another process, another file format, other types of the target.
    frame = pd.read_csv(credit).astype({"bad": float}).astype({"bad": "category"})
    frame.to_parquet("credit.parquet")
    again = run("verify", "out", "credit.parquet")
    assert again.code == 0, again.out + again.err
    assert "with probability at most 0.5 %" in again.out
    assert "with probability at most 5 %" in again.out
    assert "probability at most 10 %, as far as they were counted" in again.out
    assert "fpr <= 0.3 @ 0.99" in run("leaderboard", "out").out
    assert run("report", "out", "--json").code == 0

    said = content("out/run.json")
    said["settings"]["limits"][0]["confidence"] = 0.6
    Path("out/run.json").write_text(json.dumps(said))
    assert run("verify", "out", credit).code == 7
    manifest = content("out/model.json")
    manifest["run"]["settings"] = said["settings"]
    Path("out/model.json").write_text(json.dumps(with_digest(manifest)))
    edited = run("verify", "out", credit)
    assert edited.code == 6
    assert "fpr <= 0.3 @ 0.99 is in the certificate and was not tested again" in edited.out
    assert "fpr <= 0.3 @ 0.6 is not in the certificate" in edited.out


def test_a_resumed_run_does_not_change_it_unasked(
    run: Any, credit: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("fit", credit, *LIMITS, *SEARCH).code == 0
    more = ("resume", "out", credit, "--max-evaluations", "3")
    kept = run(*more)
    assert kept.code == 0, kept.err
    own, _ = content("out/certificate.json")["findings"]
    assert own["risk"] == pytest.approx(0.01 / 2 ** content("out/certificate.json")["look"])


def test_without_a_certificate_it_is_refused(run: Any, credit: Path) -> None:
    plain = [one for one in SEARCH if one not in ("--certify", "0.9")]
    done = run("fit", credit, *LIMITS, *plain)
    assert done.code == 2
    assert "'fpr <= 0.3 @ 0.99' asks for a proof, and this run makes none" in done.err
    assert "Add --certify 0.95, or leave out '@ 0.99'" in done.err


def test_a_confidence_of_what_has_no_test_is_not_said_to_need_a_certificate(
    run: Any, credit: Path
) -> None:
    done = run("fit", credit, "--target", "bad", "--constraint", "serve_mb <= 300 @ 95 %")
    assert done.code == 2
    assert "Leave out '@ 0.95', or add --certify 0.95 if it has a test." in done.err
