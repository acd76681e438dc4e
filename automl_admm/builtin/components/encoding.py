"""From a raw table to numbers: fill missing values, turn categories into columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from automl_admm.builtin.components.declare import choice, transformer
from automl_admm.core.space import Value
from automl_admm.plugins.records import BuildContext, ComponentPlugin

# Columns for one category column at most; the rarest categories share the last.
MOST_CATEGORIES = 32


def components() -> Iterator[ComponentPlugin]:
    """Yield the one component allowed to see a raw table."""
    yield transformer(
        "impute",
        "fills missing numbers, one-hot encodes categories",
        build_impute,
        choice("strategy", "mean", "median", "most_frequent"),
    )


def build_impute(values: Mapping[str, Value], context: BuildContext) -> Any:
    """Build the encoder of a table: dense numbers without gaps, of a width fixed at fit time.

    A number column is filled by `strategy`, and by 0 in a fold without any of its values. A
    category column becomes at most MOST_CATEGORIES columns; a missing value is a category of its
    own, rare ones share a column, and unknown ones join them. Without category columns the imputer
    stands alone: routing columns would cost most of the time of a prediction.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    imputer = SimpleImputer(strategy=values.get("strategy", "mean"), keep_empty_features=True)
    if not context.categorical:
        return imputer
    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
    )
    routes = [
        ("numeric", imputer, list(context.numeric)),
        ("categorical", encoder, list(context.categorical)),
    ]
    # Always dense: many of the later steps refuse sparse tables.
    return ColumnTransformer([route for route in routes if route[2]], sparse_threshold=0)
