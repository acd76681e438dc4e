"""The ledger of looks: halving, idempotence, two processes, and files that cannot be trusted."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from program import start_python

from automl_admm.certify.walk.carried_looks import CarriedLooks
from automl_admm.certify.walk.looks import (
    Look,
    expect_look,
    find_look,
    question_of,
    risk_of_look,
    take_look,
)
from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.core.limits import Limit


def test_every_look_at_the_same_rows_has_half_of_the_last(tmp_path: Path) -> None:
    ledger = tmp_path / "new" / "looks.json"
    looks = [take_look(ledger, "rows", f"question {k}", 0.05) for k in range(3)]
    assert looks == [Look(1, 0.025), Look(2, 0.0125), Look(3, 0.00625)]
    assert take_look(ledger, "other rows", "question 0", 0.05) == Look(1, 0.025)


def test_looks_count_under_each_hash_of_the_same_rows(tmp_path: Path) -> None:
    ledger = tmp_path / "looks.json"
    assert take_look(ledger, "all", "first", 0.05, also=["given"]).number == 1
    assert expect_look(ledger, "without one", "", also=["given"]) == 2
    assert take_look(ledger, "without one", "second", 0.05, also=["given"]).number == 2
    assert take_look(ledger, "all", "third", 0.05, also=["given"]).number == 3
    assert take_look(ledger, "without one", "second", 0.05, also=["given"]).number == 2
    assert find_look(ledger, "all", "third") == 3
    assert expect_look(ledger, "other rows", "", also=["others"]) == 1


def test_all_looks_together_spend_no_more_than_the_risk() -> None:
    assert sum(risk_of_look(number, 0.05) for number in range(1, 60)) <= 0.05
    for last in range(1, 6):
        before = sum(risk_of_look(number, 0.05) for number in range(1, last))
        assert before + risk_of_look(last, 0.05, is_last=True) == pytest.approx(0.05)


def test_a_last_look_spends_all_that_is_left_and_none_comes_after_it(tmp_path: Path) -> None:
    ledger = tmp_path / "looks.json"
    assert take_look(ledger, "rows", "only", 0.05, is_last=True) == Look(1, 0.05, is_last=True)
    assert take_look(ledger, "others", "first", 0.05) == Look(1, 0.025)
    last = take_look(ledger, "others", "second", 0.05, also=["given"], is_last=True)
    assert last == Look(2, 0.025, is_last=True)
    sure = Limit("fpr", 0.1, confidence=0.99)
    assert last.risk_of(sure) == pytest.approx(0.005)
    before = ledger.read_bytes()
    for rows, also in (("rows", []), ("others", []), ("weighted", ["given"])):
        for ask in (take_look, expect_look):
            more = ("another", 0.05) if ask is take_look else ("another",)
            with pytest.raises(ConfigurationError, match="have had their last look"):
                ask(ledger, rows, *more, also=also)
    assert take_look(ledger, "others", "second", 0.05, also=["given"], is_last=True) == last
    assert take_look(ledger, "others", "first", 0.05) == Look(1, 0.025)
    assert ledger.read_bytes() == before


def test_a_last_look_goes_with_the_run_folder(tmp_path: Path) -> None:
    here, there, folder = (tmp_path / name for name in ("here.json", "there.json", "looks.json"))
    carried = CarriedLooks(folder)
    take_look(here, "rows", "only", 0.05, carried=carried, is_last=True)
    with pytest.raises(ConfigurationError, match="have had their last look"):
        take_look(there, "rows", "another", 0.05, carried=carried)
    with pytest.raises(ConfigurationError, match="have had their last look"):
        expect_look(there, "rows", "", carried=carried)


def test_the_same_question_is_no_new_look(tmp_path: Path) -> None:
    ledger = tmp_path / "looks.json"
    take_look(ledger, "rows", "a", 0.05)
    second = take_look(ledger, "rows", "b", 0.05)
    before = ledger.read_bytes()
    assert take_look(ledger, "rows", "b", 0.05) == second
    assert ledger.read_bytes() == before


def test_a_question_is_its_models_their_order_the_limits_and_the_risk() -> None:
    asked = question_of(["m1", "m2"], ["fpr <= 0.05"], 0.05)
    assert asked == question_of(["m1", "m2"], ["fpr <= 0.05"], 0.05)
    others = [
        question_of(["m2", "m1"], ["fpr <= 0.05"], 0.05),
        question_of(["m1", "m2"], ["fpr <= 0.06"], 0.05),
        question_of(["m1", "m2"], ["fpr <= 0.05"], 0.1),
        question_of(["m1"], ["m2", "fpr <= 0.05"], 0.05),
    ]
    assert len({asked, *others}) == 5


def test_two_processes_never_have_the_same_look(tmp_path: Path) -> None:
    ledger = tmp_path / "looks.json"
    code = (
        "import sys; from pathlib import Path\n"
        "from automl_admm.certify.walk.looks import take_look\n"
        "for k in range(25):\n"
        "    print(take_look(Path(sys.argv[1]), 'rows', f'{sys.argv[2]} {k}', 0.05).number)"
    )
    runs = [start_python("-c", code, ledger, name, stdout=subprocess.PIPE) for name in "ab"]
    numbers = [int(line) for run in runs for line in run.communicate()[0].split()]
    assert sorted(numbers) == list(range(1, 51))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"schema": 2, "looks": {}}',
        '{"schema": 1, "looks": []}',
        '{"schema": 1, "looks": {"rows": [1]}}',
        '{"schema": 1, "looks": {"rows": [{}]}}',
        '{"schema": 1, "looks": {"rows": [{"question": "a"}]}}',
        '{"schema": 1, "looks": {"rows": [{"question": "a", "number": true}]}}',
    ],
)
def test_a_ledger_that_cannot_be_trusted_is_an_error_and_stays(
    tmp_path: Path, content: str
) -> None:
    ledger = tmp_path / "looks.json"
    ledger.write_text(content)
    with pytest.raises(StoreError, match=r"ledger of looks .* cannot be read: .*Restore it"):
        take_look(ledger, "rows", "a", 0.05)
    assert ledger.read_text() == content


def test_a_place_where_nothing_can_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        take_look(tmp_path / "file" / "looks.json", "rows", "a", 0.05)


def test_the_ledger_is_plain_json(tmp_path: Path) -> None:
    ledger = tmp_path / "looks.json"
    take_look(ledger, "rows", "a", 0.05)
    content = json.loads(ledger.read_text())
    assert content["schema"] == 1
    assert content["looks"]["rows"][0]["question"] == "a"
