"""Histogram gradient boosting that also fits a raw table: with text, gaps and empty columns.

Measured with scikit-learn 1.9.1: a number column without any value in the rows ends in "window
shape cannot be larger than input array shape"; a category column of more than 255 categories or of
plain text is refused. Behind another step there is nothing to guard against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from automl_admm.core.space import Value
from automl_admm.pipelines import column_routes as routes
from automl_admm.plugins.records import BuildContext


@dataclass(frozen=True, slots=True)
class Histograms:
    """A factory of boosting on histograms, with a guard in front of the raw table."""

    name: str

    def __call__(self, values: Mapping[str, Value], context: BuildContext) -> Any:
        """Build the classifier or the regressor."""
        from sklearn import ensemble

        return _guarded(getattr(ensemble, self.name)(**values), context)

    def class_taking(self, name: str, value: Value) -> type | None:  # noqa: ARG002
        """Return the class given all parameters unchanged."""
        from sklearn import ensemble

        found: type = getattr(ensemble, self.name)
        return found


build_hist_classifier = Histograms("HistGradientBoostingClassifier")
build_hist_regressor = Histograms("HistGradientBoostingRegressor")


@dataclass(frozen=True, slots=True)
class NativeHistograms(Histograms):
    """A factory of boosting on histograms that splits the levels of categories into two sets.

    Columns of more levels than it takes are encoded by the target.
    """

    def __call__(self, values: Mapping[str, Value], context: BuildContext) -> Any:
        """Build the encoder and the model."""
        from sklearn import ensemble
        from sklearn.pipeline import make_pipeline

        found, native = routes.native_routes(context, _filled())
        model = getattr(ensemble, self.name)(
            categorical_features=list(range(native)) or None, **values
        )
        if not found:  # behind another component, where the kinds of columns are not known
            return model
        return make_pipeline(_joined(found), model)


build_native_classifier = NativeHistograms("HistGradientBoostingClassifier")
build_native_regressor = NativeHistograms("HistGradientBoostingRegressor")


def _guarded(model: Any, context: BuildContext) -> Any:
    """Put an encoder before the model if it is to see the raw table."""
    if not context.numeric and not context.kinds:
        return model
    from sklearn.pipeline import make_pipeline

    numbers = [("numeric", _filled(), list(context.numeric))] if context.numeric else []
    unordered = routes.numbered(context.unordered, routes.MOST_NATIVE)
    categories = [*unordered, *routes.in_order(context)]
    others = [*routes.text(context), *routes.tags(context)]
    return make_pipeline(_joined([*numbers, *categories, *others]), model)


def _filled() -> Any:
    """A number column with gaps gets a second column to mark them."""
    from sklearn.impute import SimpleImputer

    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)


def _joined(found: list[routes.Route]) -> Any:
    from sklearn.compose import ColumnTransformer

    # Dense: boosting takes no sparse table.
    return ColumnTransformer(found, sparse_threshold=0)
