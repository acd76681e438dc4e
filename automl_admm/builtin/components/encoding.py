"""From a raw table to numbers: the components that see the kinds of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from automl_admm.builtin.components import routes
from automl_admm.builtin.components.declare import choice, transformer
from automl_admm.core.space import Value
from automl_admm.plugins.records import BuildContext, ComponentPlugin


def components() -> Iterator[ComponentPlugin]:
    """Yield the one component allowed to see a raw table."""
    yield transformer(
        "impute",
        "fills missing numbers; encodes categories, text and tags by what they are",
        build_impute,
        choice("strategy", "mean", "median", "most_frequent"),
    )


def build_impute(values: Mapping[str, Value], context: BuildContext) -> Any:
    """Build the encoder of a table: dense numbers without gaps, of a width fixed at fit time.

    A number column is filled by `strategy`, and by 0 in a fold without any of its values. A
    category column of few levels is one-hot encoded, one of many by the mean target of its levels.
    A text becomes its topics and its telling words, tags become columns of 0 and 1. Without any
    of these the imputer stands alone: routing columns would cost most of the time of a prediction.
    """
    many = set(context.having_more(routes.FEW_LEVELS))
    few = [column for column in context.categorical if column not in many]
    found = [
        *routes.fill(context.numeric, values.get("strategy", "mean")),
        *routes.one_hot(few),
        *routes.by_target([c for c in context.categorical if c in many], context),
        *routes.text(context),
        *routes.tags(context),
    ]
    return _join(found, values)


def _join(found: list[routes.Route], values: Mapping[str, Value]) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer

    if all(name == "numeric" for name, _, _ in found):
        return SimpleImputer(strategy=values.get("strategy", "mean"), keep_empty_features=True)
    # Always dense: many of the later steps refuse sparse tables.
    return ColumnTransformer(found, sparse_threshold=0)
