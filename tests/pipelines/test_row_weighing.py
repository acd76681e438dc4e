"""Weights of rows by components of a pipeline: what they are told, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import PluginError
from automl_admm.core.limits import Limit
from automl_admm.core.structure.pipeline_space import Step
from automl_admm.data.row_roles import Roles
from automl_admm.pipelines.build import build_pipeline
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.row_weighing import has_weigher, weigh_rows, without_weighers
from automl_admm.plugins.records import BuildContext, ComponentPlugin, Constraint
from automl_admm.plugins.registry import Registry

CONTEXT = BuildContext("classification")
FRAME = pd.DataFrame({"sex": ["f", "f", "m", "m"], "old": ["no", "yes", "no", "yes"]})


class Noting:
    """Notes what it is told, and gives the weights that it was made with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.told: list[tuple[Any, Any, Any]] = []

    def weigh(self, y: Any, groups: Any, weights: Any) -> Any:
        self.told.append((y, np.asarray(groups).copy(), weights.copy()))
        weights[:] = -1.0  # what it is given is its own
        return self.answer


def registry(*weighers: tuple[str, Any]) -> Registry[ComponentPlugin]:
    found: Registry[ComponentPlugin] = Registry("component")
    for name, weigher in weighers:
        record = ComponentPlugin(
            name=name, summary="s", role="weigher", factory=lambda values, context, w=weigher: w
        )
        found.add(record, "tests")
    for name, role in (("scale", "transformer"), ("model", "estimator")):
        found.add(ComponentPlugin(name=name, summary="s", role=role, factory=dict), "tests")
    return found


def rows(weights: Any = None) -> Table:
    return Table(
        np.zeros((4, 1)), np.array([0, 1, 0, 1]), ("a", "b"), FRAME, Roles(weights=weights)
    )


def limit_on(column: str, **given: Any) -> Constraint:
    kind: dict[str, Any] = {"kind": "statistical", "uses_decisions": True} | given
    by: Callable[[Any], Any] = lambda frame: frame[column].to_numpy(dtype=object)  # noqa: E731
    return Constraint(Limit("gap", 0.1), lambda evaluated: 0.0, groups=by, **kind)


def test_no_data_flow_through_a_weigher() -> None:
    known = registry(("even", Noting(np.ones(4))))
    steps = [Step("even"), Step("scale"), Step("even"), Step("model")]
    assert [one.component for one in without_weighers(steps, known)] == ["scale", "model"]  # type: ignore[union-attr]
    assert has_weigher(steps, known)
    assert not has_weigher(steps[1:2], known)


def test_the_weights_of_the_user_go_in_and_their_mean_stays() -> None:
    noting = Noting([1.0, 2.0, 3.0, 2.0])
    found = weigh_rows(
        [Step("w"), Step("model")], registry(("w", noting)), CONTEXT, rows(np.full(4, 3.0)), ()
    )
    assert found is not None
    assert found.tolist() == [1.5, 3.0, 4.5, 3.0]
    ((y, groups, weights),) = noting.told
    assert y.tolist() == [0, 1, 0, 1]
    assert set(groups) == {0}
    assert weights.tolist() == [3.0] * 4


def test_the_second_weigher_is_told_the_weights_of_the_first() -> None:
    second = Noting([1.0, 1.0, 1.0, 5.0])
    known = registry(("first", Noting([0.0, 1.0, 1.0, 2.0])), ("second", second))
    weigh_rows([Step("first"), Step("second"), Step("model")], known, CONTEXT, rows(), ())
    assert second.told[0][2].tolist() == [0.0, 1.0, 1.0, 2.0]


def test_without_a_weigher_the_users_weights_are_as_they_were() -> None:
    given = np.array([1.0, 2.0, 3.0, 4.0])
    assert weigh_rows([Step("model")], registry(), CONTEXT, rows(given), ()) is given
    assert weigh_rows([Step("model")], registry(), CONTEXT, rows(), ()) is None


@pytest.mark.parametrize(
    ("limits", "groups"),
    [
        ([limit_on("sex")], 2),
        ([limit_on("sex"), limit_on("old")], 4),
        ([limit_on("sex"), limit_on("sex")], 2),
        ([limit_on("sex", uses_decisions=False)], 1),
        ([limit_on("sex", kind="measured")], 1),
    ],
)
def test_groups_are_those_that_limits_on_decisions_compare(
    limits: list[Constraint], groups: int
) -> None:
    noting = Noting(np.ones(4))
    weigh_rows([Step("w"), Step("model")], registry(("w", noting)), CONTEXT, rows(), limits)
    told = noting.told[0][1]
    assert len(set(told)) == groups
    if groups == 2:
        assert told[0] == told[1] != told[2] == told[3]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (np.ones(3), "no weight from 0 on for each row"),
        ([1.0, 2.0, np.nan, 1.0], "no weight from 0 on for each row"),
        ([1.0, 2.0, -1.0, 1.0], "no weight from 0 on for each row"),
        (["a", "b", "c", "d"], "no weight from 0 on for each row"),
        (None, "no weight from 0 on for each row"),
        (np.zeros(4), "the weight 0"),
    ],
)
def test_weights_that_are_none_are_told_with_the_name_of_the_plugin(answer: Any, says: str) -> None:
    known = registry(("w", Noting(answer)))
    with pytest.raises(PluginError, match=says) as raised:
        weigh_rows([Step("w"), Step("model")], known, CONTEXT, rows(), ())
    assert "component 'w'" in str(raised.value)


def test_a_factory_that_makes_no_weigher_is_told() -> None:
    known = registry(("w", object()))
    with pytest.raises(PluginError, match="no weigher with a method"):
        weigh_rows([Step("w"), Step("model")], known, CONTEXT, rows(), ())


def test_a_weigher_alone_is_no_pipeline() -> None:
    with pytest.raises(ValueError, match="at least one step"):
        build_pipeline([Step("w")], registry(("w", Noting(1))), CONTEXT, 0)
