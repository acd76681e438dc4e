"""The count of looks goes with a run folder to other machines, and comes back with it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Machine = Callable[[str], None]

FIT = (
    *("--target", "bad", "--grammar", "tiny", "--cv", "2", "--theta-solver", "random"),
    *("--max-evaluations", "1", "--executor", "inline", "--certify", "0.95", "-q"),
)
CHANGED = ("--max-evaluations", "+1", "--allow-changed", "--on-infeasible", "closest", "-q")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Go to the machine with this name: it has a ledger of its own."""

    def go(name: str) -> None:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "machines" / name))

    return go


@pytest.fixture
def folder(run: Any, machine: Machine, tmp_path: Path) -> Path:
    """A run certified at the first look, on the machine `first`."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"income": rng.normal(size=900), "debt": rng.normal(size=900)})
    frame["bad"] = np.where(frame["income"] > frame["debt"], "yes", "no")
    frame.to_csv(tmp_path / "credit.csv", index=False)
    machine("first")
    ended = run("fit", "credit.csv", *FIT, "--constraint", "fpr <= 0.3", "--out", "out")
    assert ended.code == 0, ended
    assert look(tmp_path / "out") == (1, pytest.approx(0.025))
    return tmp_path / "out"


def look(folder: Path) -> tuple[int, float]:
    said = json.loads((folder / "certificate.json").read_text())
    return said["look"], said["risk_spent"]


def test_another_question_elsewhere_is_the_next_look_and_counts_at_home(
    run: Any, machine: Machine, folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, "one")
    shutil.copytree(folder, "two")
    machine("second")
    assert run("resume", "one", "--constraint", "fpr <= 0.31", *CHANGED).code == 0
    assert look(tmp_path / "one") == (2, pytest.approx(0.0125))
    verified = run("verify", "one", "credit.csv")
    assert verified.code == 0, verified
    # The folder alone vouches for its count on a machine that never saw it.
    machine("third")
    verified = run("verify", "one", "credit.csv")
    assert "that it is look 2 at these data: no ledger" in verified.out
    assert run("resume", "two", "--constraint", "fpr <= 0.32", *CHANGED).code == 0
    assert look(tmp_path / "two")[0] == 2
    # Both copies meet on the first machine: the last of the five questions is the fifth look.
    machine("first")
    assert run("resume", "one", "--constraint", "fpr <= 0.33", *CHANGED).code == 0
    assert look(tmp_path / "one")[0] == 3
    assert run("resume", "two", "--constraint", "fpr <= 0.34", *CHANGED).code == 0
    assert look(tmp_path / "two") == (5, pytest.approx(0.05 / 2**5))


def test_an_edited_count_is_refused_and_a_folder_without_it_goes_on(
    run: Any, machine: Machine, folder: Path
) -> None:
    path = folder / "looks.json"
    content = path.read_text()
    path.write_text(content.replace('"risk"', '"was"'))
    machine("second")
    for command in (
        ("verify", folder, "credit.csv"),
        ("resume", folder, "--constraint", "fpr <= 0.31", *CHANGED),
    ):
        refused = run(*command)
        assert refused.code == 7, refused
        assert refused.err.count("\n") <= 2
        assert "looks.json' is damaged: its content is not what its content_sha256" in refused.err
    path.unlink()
    assert run("verify", folder, "credit.csv").code == 0
    assert run("resume", folder, "--constraint", "fpr <= 0.31", *CHANGED).code == 0
    assert look(folder)[0] == 2


@pytest.mark.parametrize("lost", ["row-hashes.npy", "certification-rows.json"])
def test_a_certificate_whose_rows_were_not_written_is_made_again(
    lost: str, run: Any, folder: Path, tmp_path: Path
) -> None:
    """A kill between the files left a certificate that `resume` kept and `verify` refused."""
    (folder / lost).unlink()
    assert run("verify", "out", "credit.csv").code == 7
    ended = run("resume", "out", "--max-evaluations", "+1", "-q")
    assert ended.code == 0, ended
    assert run("verify", "out", "credit.csv").code == 0
