"""An evaluation that a race stopped is an answer only beside one that would stop it today."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_breast_cancer

from automl_admm.core.evaluations import FOLDS_LEFT, Evaluation, Status
from automl_admm.core.space import Candidate
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import Preparation, prepare
from automl_admm.runs.session.changes import Changes
from automl_admm.runs.session.session import nearest, without_rival

OTHER_BOUNDS = Changes(("limits",), bounds=True)
OTHER_SPACE = Changes(("grammar",), space=True)


def limited(tmp_path: Path, trees: int) -> Preparation:
    path = tmp_path / "grammar.lark"
    path.write_text("%import components (decision_tree)\nstart: decision_tree\n")
    config = RunConfig(grammar=path, constraints=(f"trees <= {trees}",), executor="inline")
    return prepare(config, *load_breast_cancer(return_X_y=True))


def ended(number: int, trees: float, *scores: float, **details: Any) -> Evaluation:
    return Evaluation(
        number,
        f"key-{number}",
        Candidate((), (float(number),)),
        Status.SUCCESS,
        loss=1 - sum(scores) / len(scores),
        constraints=(trees,),
        details={"scores": list(scores), **details},
    )


BEST = ended(1, 40, 0.90, 0.91, 0.92, 0.90)
STOPPED = ended(2, 5, 0.5, **{FOLDS_LEFT: 3})


def test_one_behind_a_pipeline_outside_the_limits_of_now_goes(tmp_path: Path) -> None:
    for changes in (OTHER_BOUNDS, Changes()):  # a repaired log may have none left
        assert without_rival([BEST, STOPPED], limited(tmp_path, 10), changes) == [STOPPED]
    for changes in (OTHER_BOUNDS, OTHER_SPACE, Changes()):
        assert without_rival([BEST, STOPPED], limited(tmp_path, 1000), changes) == []


def test_one_whose_rival_is_not_in_the_grammar_any_more_goes(tmp_path: Path) -> None:
    alike = ended(3, 5, 0.51, 0.50, 0.52, 0.51)
    for others in ([], [alike]):
        found = without_rival([*others, STOPPED], limited(tmp_path, 1000), OTHER_SPACE)
        assert found == [STOPPED]


def test_one_behind_another_within_the_limits_stays(tmp_path: Path) -> None:
    other = ended(3, 8, 0.80, 0.81, 0.82, 0.80)
    prepared = limited(tmp_path, 10)
    assert without_rival([BEST, STOPPED, other], prepared, OTHER_BOUNDS) == []
    near = ended(4, 8, 0.50, 0.51, 0.49, 0.51)
    assert without_rival([BEST, STOPPED, near], prepared, OTHER_BOUNDS) == [STOPPED]


@pytest.mark.parametrize("stopped", [[], [STOPPED]])
def test_those_within_the_limits_are_tried_first(tmp_path: Path, stopped: list[Evaluation]) -> None:
    far = ended(5, 30, 0.7, **{FOLDS_LEFT: 3})
    limits = limited(tmp_path, 10).limits
    found = nearest([far, *stopped], limits)
    assert found == [*(one.candidate for one in stopped), far.candidate]
