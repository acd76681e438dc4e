"""A model that an earlier session left comes back with all that was measured of it."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from automl_admm.certify.certificate import Price
from automl_admm.core.limits import Limit
from automl_admm.pipelines.thresholds.cost import NAME as COST
from automl_admm.runs.finish.final_fit import Refit
from automl_admm.runs.finish.kept_model import Proven, is_better, model_that_is_there
from automl_admm.runs.finish.passed_over import read_passed_over, too_long
from automl_admm.runs.finish.run_files import note_passed_over
from automl_admm.runs.session.run_log import read_evaluations
from automl_admm.store.json_content import with_digest
from automl_admm.store.run_folder import RunFolder

STORED = Path(__file__).parents[1] / "stored_run" / "stacked"


@pytest.fixture(autouse=True)
def _of_this_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of a session describes no run: the model in its folder is of the same one."""
    monkeypatch.setattr("automl_admm.runs.finish.kept_model.describe_run", lambda _: {})


def a_session(path: Path, **changes: Any) -> Any:
    """The part of a session that is looked at, with a changed manifest."""
    folder = RunFolder(Path(shutil.copytree(STORED, path)))
    manifest = json.loads(folder.model_manifest.read_text())
    folder.model_manifest.write_text(json.dumps(with_digest(manifest | changes)))
    limits = (SimpleNamespace(limit=Limit("size_mb", 1.0)),)
    return SimpleNamespace(
        folder=folder,
        prepared=SimpleNamespace(aside=None, constraints=limits),
        past=SimpleNamespace(evaluations=read_evaluations(folder)),
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"size_mb <= 1": 3.5}, (3.5,)),
        ({"size_mb <= 2": 3.5}, ()),  # of other limits
        ({}, ()),
    ],
)
def test_values_on_held_out_rows_come_back(
    tmp_path: Path, values: dict[str, float], expected: tuple[float, ...]
) -> None:
    rates = {"recall": 0.5, "selection_rate": None}
    session = a_session(tmp_path / "run", held_out_constraints=values, held_out_decisions=rates)
    found = model_that_is_there(session)
    assert found is not None
    assert found.measured.held_out_constraints == expected
    assert found.measured.held_out_decisions == rates


def test_a_value_that_was_no_number_is_none(tmp_path: Path) -> None:
    found = model_that_is_there(
        a_session(tmp_path / "run", held_out_constraints={"size_mb <= 1": None})
    )
    assert found is not None
    assert math.isnan(found.measured.held_out_constraints[0])


def test_of_two_models_within_the_limits_the_better_one_ships(tmp_path: Path) -> None:
    """Also where the search aims so much lower by now that only the worse one is within."""
    found = model_that_is_there(a_session(tmp_path / "run"))
    assert found is not None
    older, newer = (
        replace(
            found, evaluation=replace(found.evaluation, key=key, loss=loss, constraints=(value,))
        )
        for key, loss, value in (("older", 0.3, 0.1), ("newer", 0.2, 0.8))
    )
    limits = (Limit("size_mb", 1.0),)
    prepared = SimpleNamespace(limits=limits, aims=(Limit("size_mb", 0.5),))
    session: Any = SimpleNamespace(prepared=prepared)
    assert not is_better(older, newer, session)
    assert is_better(newer, older, session)


@pytest.mark.parametrize(
    "told", [{"one_class": "no"}, {"seen_loss": 99.0}], ids=["one class", "worse on its own rows"]
)
def test_a_model_whose_fit_went_wrong_never_stays_before_a_sound_one(
    told: dict[str, Any], tmp_path: Path
) -> None:
    there = model_that_is_there(a_session(tmp_path / "run", **told))
    assert there is not None
    assert there.went_wrong is not None
    worse = replace(there.evaluation, key="worse", loss=there.evaluation.loss + 1.0)
    sound = Refit(worse)
    session: Any = SimpleNamespace(prepared=SimpleNamespace(limits=(Limit("size_mb", 1.0),)))
    assert not is_better(there, sound, session)
    assert is_better(sound, there, session)
    # Nor does it stay before a later fit of the same pipeline that is sound.
    again = Refit(there.evaluation)
    assert not is_better(there, again, session)
    assert is_better(again, there, session)


def test_a_model_that_stays_is_told_what_was_passed_over_now(tmp_path: Path) -> None:
    session = a_session(tmp_path / "run")
    best = session.past.evaluations[0]
    before = session.folder.read(session.folder.model_manifest)
    note_passed_over(session.folder, (too_long(best, 14.0, 6.0),))
    manifest = session.folder.read(session.folder.model_manifest)
    assert manifest["passed_over"] == {
        "evaluation": best.number,
        "reason": "its final fit was expected to take up to 14.0 s, and 6.0 s were left",
        "said": read_passed_over(manifest),
        "is_better": True,
        "needs_time": True,
        "others": [],
    }
    assert manifest["sha256"] == before["sha256"]
    assert model_that_is_there(session) is not None
    note_passed_over(session.folder, ())
    assert read_passed_over(session.folder.read(session.folder.model_manifest)) is None


@pytest.mark.parametrize(
    ("changes", "stays"),
    [
        ({}, True),
        ({"is_certified": False, "key": "other", "certified": 0.9}, True),
        ({"key": "other"}, False),
        ({"certified": 0.71}, False),
        ({"certified": 0.69}, True),
        ({"utility": "recall"}, False),
        ({"cost": "fn=5,fp=1"}, False),
        ({"utility": COST, "certified": 0.71}, True),
        ({"utility": COST, "certified": 0.69}, False),
    ],
)
def test_a_later_certificate_of_the_same_decisions_takes_nothing_from_the_earlier_one(
    changes: dict[str, Any], stays: bool
) -> None:
    told = {"key": "a", "is_certified": True, "utility": "accuracy", "certified": 0.7, "cost": None}
    told |= changes
    earlier = COST if told["utility"] == COST else "accuracy"
    evaluation = SimpleNamespace(evaluation=SimpleNamespace(key="a"), of_folds=None)
    certificate: Any = SimpleNamespace(price=Price(earlier, 0.7, 0.8))
    proven = Proven(refit=evaluation, certificate=certificate)  # type: ignore[arg-type]
    later: Any = SimpleNamespace(evaluation=SimpleNamespace(key=told["key"]))
    walked: Any = SimpleNamespace(
        shipped=SimpleNamespace(is_certified=told["is_certified"]),
        price=Price(told["utility"], told["certified"], 0.8),
    )
    assert proven.stays_before(later, walked, told["cost"]) is stays
