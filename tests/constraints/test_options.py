"""Constraints with options: from the text of a limit to its value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.constraints.options import written_name
from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import Measures, constraint_of
from automl_admm.core.errors import ConfigurationError, PluginError
from automl_admm.core.evidence import Largest, Rate
from automl_admm.plugins.configured import configure
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import ConstraintPlugin, Masks, NoOptions
from automl_admm.plugins.registry import Registry
from automl_admm.runs.given_objects import take_objects


@dataclass(frozen=True)
class Band:
    width: float = 0.1
    side: str = "both"

    def __post_init__(self) -> None:
        if not 0 < self.width <= 0.5:
            raise ValueError("width must be above 0, and at most 0.5")


@dataclass(frozen=True)
class Unsure:
    band: Band

    def __call__(self, evaluated: EvaluatedPipeline) -> Rate:
        near = np.abs(evaluated.predictions[:, -1] - 0.5) < self.band.width
        return Rate(int(near.sum()), len(near))


def unsure(band: Band) -> ConstraintPlugin:
    if band.side == "left":
        raise ValueError("there is nothing on the left")
    return replace(PLAIN, function=Unsure(band))


PLAIN = ConstraintPlugin(
    name="unsure",
    summary="rows decided by a hair, a share",
    function=Unsure(Band()),
    highest=1.0,
    kind="statistical",
    target="two classes",
    uses_decisions=False,
)
UNSURE = replace(PLAIN, function=None, options=Band, configured=unsure)


def measures(record: ConstraintPlugin = UNSURE) -> Measures:
    found: Measures = Registry("constraint")
    found.add(record, "mine 1.0")
    return found


def name_of(text: str) -> str:
    return constraint_of(read_text(text), measures()).limit.name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("unsure <= 1", "unsure"),
        ("unsure{width=0.20} <= 1", "unsure{width=0.2}"),
        ("unsure{width=2e-1,side=right} <= 1", "unsure{side=right,width=0.2}"),
        ('unsure{side="a, ""b"""} <= 1', 'unsure{side="a, ""b"""}'),
        ("unsure_gap{width=0.2}[sex] <= 1", "unsure_gap{width=0.2}[sex]"),
        ("max_unsure{width=0.2}[sex] <= 1", "max_unsure{width=0.2}[sex]"),
        ("unsure{width=0.2,class=a} <= 1", 'unsure{class="a",width=0.2}'),
    ],
)
def test_a_limit_has_one_name_however_its_options_are_written(text: str, name: str) -> None:
    assert name_of(text) == name
    assert name_of(f"{name} <= 1") == name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("unsure{widht=1} <= 1", r"limit:1:8: error\[L006\]: 'unsure' has no option 'widht'"),
        ("unsure{widht=1} <= 1", "help: Did you mean 'width'?"),
        ("unsure{width=soon} <= 1", "option 'width' of 'unsure' must be a number, not 'soon'"),
        ("unsure_gap{width=0}[sex] <= 1", r"width must be above 0.*\(given: width=0\)"),
        ("unsure{side=left} <= 1", "no limit on 'unsure' with these options: there is nothing"),
        ("neg_log_loss{width=1} >= -1", "'neg_log_loss' has no option 'width'"),
    ],
)
def test_a_wrong_option_is_told_in_a_line(text: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        name_of(text)


def test_a_number_stays_one_where_an_option_is_a_text() -> None:
    assert name_of("unsure{side=1.10} <= 1") == "unsure{side=1.10}"


def test_options_reach_each_measurement_and_the_groups_of_it() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=150), "sex": rng.choice(["f", "m"], 150)})
    y = np.where(X["a"] + rng.normal(size=150) > 0, "yes", "no")
    names = ["unsure", "unsure{width=0.3}", "unsure{width=0.5}", "max_unsure{width=0.3}[sex]"]
    search = AutoMLClassifier(
        grammar="tiny",
        cv=2,
        max_evaluations=1,
        executor="inline",
        constraints=[UNSURE, *(f"{name} <= 1" for name in names)],
    )
    with pytest.warns(UserWarning, match="is only reported"):
        search.fit(X, y)
    (row,) = search.leaderboard().to_dict("records")
    few, more, all_, worst = (row[name] for name in names)
    assert 0 < few < more < all_ == 1
    assert more < worst < 1


def _of_another_kind(band: Band) -> ConstraintPlugin:
    return replace(PLAIN, kind="measured")


def _of_no_function(band: Band) -> ConstraintPlugin:
    return UNSURE


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (_of_another_kind, "its kind is 'measured', not 'statistical'"),
        (_of_no_function, "it has no function of any kind"),
        (lambda band: 0.5, "its factory returned 0.5, no ConstraintPlugin"),
        (
            lambda band: band.breadth,
            "cannot be made: AttributeError: 'Band' object has no attribute",
        ),
    ],
)
def test_a_faulty_plugin_is_told_with_its_name(made: Any, says: str) -> None:
    with pytest.raises(PluginError, match=f"constraint 'unsure'.*{says}"):
        configure(replace(UNSURE, configured=made), {})


@dataclass(frozen=True)
class Classes:
    true: float = 0.1


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"function": Unsure(Band())},
            "needs one of function, grouped, numbered",
        ),
        ({"configured": None, "function": Unsure(Band())}, "options and configured go together"),
        (
            {"options": NoOptions, "configured": None, "changing": Unsure, "uses_decisions": True},
            "must have uses_decisions=False",
        ),
        ({"options": Classes}, "'true' names a class in every limit, and can be no option"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(changes: Any, says: str) -> None:
    with pytest.raises(PluginError, match=says):
        replace(UNSURE, **changes)


def test_a_listing_shows_the_options_and_the_groups() -> None:
    def largest(rows: EvaluatedPipeline, groups: Masks) -> Largest:
        return Largest({name: Rate(0, int(mask.sum())) for name, mask in groups.items()})

    grouped = replace(PLAIN, function=None, grouped=largest)
    record = replace(UNSURE, configured=lambda band: grouped)
    assert written_name(UNSURE) == "unsure{width=…,side=…}"
    assert written_name(record) == "unsure{width=…,side=…}[column]"


@pytest.mark.parametrize("limit", ["min_unsure[a] >= 0", "unsure_gap{width=0.2}[a] <= 1"])
def test_a_definition_is_used_by_each_form_of_its_name(limit: str) -> None:
    assert take_objects({"constraints": [UNSURE, limit]})["constraints"] == (limit,)


def test_a_numbered_definition_is_used_by_a_name_with_a_number() -> None:
    numbered = replace(PLAIN, function=None, numbered=lambda number: PLAIN)
    assert take_objects({"constraints": [numbered, "unsure_2.5 <= 1"]})["constraints"]
