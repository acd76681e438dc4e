"""Components that keep some columns and drop the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from automl_admm.builtin.components.declare import of, real, transformer, whole
from automl_admm.core.space import Value
from automl_admm.plugins.records import BuildContext, ComponentPlugin


@dataclass(frozen=True, slots=True)
class ByScore:
    """A factory of selectors scoring a column by the F test of the task."""

    name: str

    def __call__(self, values: Mapping[str, Value], context: BuildContext) -> Any:
        """Build the selector."""
        from sklearn import feature_selection

        tests = {
            "classification": feature_selection.f_classif,
            "regression": feature_selection.f_regression,
        }
        return getattr(feature_selection, self.name)(tests[context.task], **values)

    def class_taking(self, name: str, value: Value) -> type | None:  # noqa: ARG002
        """Return the class given all parameters unchanged."""
        from sklearn import feature_selection

        found: type = getattr(feature_selection, self.name)
        return found


# Table A2, continuous and discrete parameters: percentile 1d; fpr, fdr, fwe and variance 1c each.
def components() -> Iterator[ComponentPlugin]:
    """Yield the selectors of the paper's Table A2."""
    alpha = real("alpha", 0.01, 0.5, 0.1)
    yield transformer(
        "select_percentile",
        "the best columns, a percentage of them",
        ByScore("SelectPercentile"),
        whole("percentile", 1, 99, 50),
    )
    yield transformer(
        "select_fpr", "columns by their false positive rate", ByScore("SelectFpr"), alpha
    )
    yield transformer(
        "select_fdr", "columns by the false discovery rate", ByScore("SelectFdr"), alpha
    )
    yield transformer(
        "select_fwe", "columns by the family-wise error rate", ByScore("SelectFwe"), alpha
    )
    yield transformer(
        "variance_threshold",
        "columns that vary enough",
        of("sklearn.feature_selection", "VarianceThreshold"),
        real("threshold", 0.0, 0.2, 0.0),
    )
