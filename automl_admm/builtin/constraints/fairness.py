"""The built-in comparisons of groups with names of their own, written `NAME[column]`."""

from __future__ import annotations

from collections.abc import Iterable

from automl_admm.builtin.constraints.decision_rates import fpr, recall, selection_rate
from automl_admm.constraints.group_comparison import by_group
from automl_admm.core.evidence import Gap, Largest, Ratio
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import (
    Better,
    ConstraintPlugin,
    GroupedFunction,
    Masks,
)


def demographic_parity_difference(evaluated: EvaluatedPipeline, groups: Masks) -> Gap:
    """Return max_g P(ŷ = 1 | g) − min_g P(ŷ = 1 | g), the gap in selection rates."""
    return Gap(by_group(selection_rate, evaluated, groups))


def demographic_parity_ratio(evaluated: EvaluatedPipeline, groups: Masks) -> Ratio:
    """Return min_g P(ŷ = 1 | g) / max_g P(ŷ = 1 | g), at least 0.8 by the four-fifths rule."""
    return Ratio(by_group(selection_rate, evaluated, groups))


def equal_opportunity_difference(evaluated: EvaluatedPipeline, groups: Masks) -> Gap:
    """Return max_g P(ŷ = 1 | y = 1, g) − min_g of the same, the gap in true positive rates."""
    return Gap(by_group(recall, evaluated, groups))


def equalized_odds_difference(evaluated: EvaluatedPipeline, groups: Masks) -> Largest:
    """Return the larger of the gap in true positive rates and the gap in false positive rates."""
    # Both gaps as evidence, not their larger value: a certificate must bound each.
    return Largest(
        {
            "true positive rate": Gap(by_group(recall, evaluated, groups)),
            "false positive rate": Gap(by_group(fpr, evaluated, groups)),
        }
    )


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the comparisons under their fairlearn names."""
    yield _plugin(
        "demographic_parity_difference",
        "gap between groups in rows called positive",
        demographic_parity_difference,
    )
    yield _plugin(
        "demographic_parity_ratio",
        "least share of rows called positive / largest, over groups",
        demographic_parity_ratio,
        "larger",
    )
    yield _plugin(
        "equal_opportunity_difference",
        "gap between groups in recall, positive rows called so",
        equal_opportunity_difference,
    )
    yield _plugin(
        "equalized_odds_difference",
        "larger of the gaps in recall and in fpr between groups",
        equalized_odds_difference,
    )


def _plugin(
    name: str, summary: str, grouped: GroupedFunction, better: Better = "smaller"
) -> ConstraintPlugin:
    return ConstraintPlugin(
        name=name,
        summary=summary,
        grouped=grouped,
        highest=1.0,
        kind="statistical",
        better=better,
        target="two classes",
        takes_weights=True,
    )
