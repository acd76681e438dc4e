"""The groups for group thresholds: those of the first limit to compare decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.constraints.groups import Grouping
from automl_admm.constraints.syntax import GroupColumn
from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.pipelines.labels import is_turned, positive_of
from automl_admm.pipelines.thresholds.by_group import Names, Thresholds
from automl_admm.pipelines.thresholds.single import aimed_decisions
from automl_admm.plugins.records import Constraint


@dataclass(frozen=True, slots=True)
class FeatureGroups:
    """Groups made of features, and so known for every row to predict.

    `columns` are the features with their cut points.
    """

    columns: Mapping[str, tuple[float, ...]]

    def names(self, X: Any) -> Names:
        """The name of the group of every row."""
        from automl_admm.constraints.group_classifier import name_groups

        return name_groups(X, self.columns)

    def fix(self, pipeline: Any, thresholds: Thresholds, response: str, classes: Any) -> Any:
        """Wrap a fitted pipeline in a `GroupThresholdClassifier`; its fit sees only the labels."""
        from sklearn.frozen import FrozenEstimator

        from automl_admm.constraints.group_classifier import GroupThresholdClassifier

        fixed = GroupThresholdClassifier(
            FrozenEstimator(pipeline),
            columns=dict(self.columns),
            thresholds=dict(thresholds.by_group),
            threshold=thresholds.single,
            response_method=response,
            pos_label=positive_of(classes) if is_turned(classes) else None,
        )
        # One made-up row for each class: a frozen pipeline learns nothing from them.
        return fixed.fit(np.reshape(classes, (-1, 1)), classes)


def decide_by_groups(
    constraints: Sequence[Constraint], apart: Iterable[str], classes: int
) -> FeatureGroups:
    """Return the groups of the first limit to compare decisions.

    Raise if there is none, if the target has not two `classes`, or if its groups are made of
    columns set `apart`: they are unknown for a row to predict.
    """
    if classes != 2:
        found = f"{classes} classes" if classes else "a quantity"
        raise ConfigurationError(
            f"thresholds by group need a target of two classes, and this one has {found}.",
            hint=Remedy("Leave out {group_thresholds}."),
        )
    limits = [constraint.limit for constraint in constraints]
    for one in aimed_decisions(constraints, limits):
        # Groups by a plugin's own function cannot be told from features at prediction.
        if isinstance(one.constraint.groups, Grouping):
            return _of_features(one.limit.name, one.constraint.groups.columns, set(apart))
    raise ConfigurationError(
        "thresholds by group need a limit that compares the decisions on groups with a number.",
        hint=Remedy('Give one, such as "fpr_gap[sex] <= 0.05", or leave out {group_thresholds}.'),
    )


def _of_features(limit: str, columns: tuple[GroupColumn, ...], apart: set[str]) -> FeatureGroups:
    hidden = next((column.name for column in columns if column.name in apart), None)
    if hidden is not None:
        raise ConfigurationError(
            f"limit '{limit}': no threshold can be by the column '{hidden}', which "
            "is sensitive: pipelines are not given it.",
            hint=Remedy(
                "Make it a feature (leave it out of {sensitive_features}), or leave out "
                "{group_thresholds}."
            ),
        )
    return FeatureGroups({column.name: column.cuts for column in columns})
