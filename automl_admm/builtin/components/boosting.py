"""Histogram gradient boosting that also fits a raw table: with text, gaps and empty columns.

Measured with scikit-learn 1.9.1: a number column without any value in the rows ends in "window
shape cannot be larger than input array shape"; a category column of more than 255 categories or of
plain text is refused. Behind another step there is nothing to guard against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from automl_admm.builtin.components import routes
from automl_admm.core.space import Value
from automl_admm.plugins.records import BuildContext

# Below the model's limit of 255.
MOST_CATEGORIES = 250
# Real categories are numbered from 0.
MISSING = -1
UNKNOWN = -2


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


def _guarded(model: Any, context: BuildContext) -> Any:
    """Put an encoder before the model if it is to see the raw table.

    The model's own support of categories is not used: loading such a pipeline requires trust in
    `functools.partial`, which is as good as trusting anything.
    """
    if not context.numeric and not context.kinds:
        return model
    from sklearn.pipeline import make_pipeline

    return make_pipeline(_encoder(context), model)


def _encoder(context: BuildContext) -> Any:
    """Number the categories; a number column with gaps gets a second column to mark them."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OrdinalEncoder

    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=UNKNOWN,
        encoded_missing_value=MISSING,
        max_categories=MOST_CATEGORIES,
    )
    found = [
        ("numeric", imputer, list(context.numeric)),
        ("categorical", encoder, list(context.categorical)),
    ]
    others = [*routes.text(context), *routes.tags(context)]
    # Dense: boosting takes no sparse table.
    return ColumnTransformer([*(one for one in found if one[2]), *others], sparse_threshold=0)
