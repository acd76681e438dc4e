"""From a raw table to numbers: the components that see the kinds of columns.

All give dense numbers without gaps, of a width fixed at fit time. Text and tags are encoded alike
by all of them but `char_text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from automl_admm.builtin.components.declare import choice, transformer, whole
from automl_admm.core.space import Value
from automl_admm.pipelines import column_routes as routes
from automl_admm.plugins.records import FEW_LEVELS, BuildContext, ComponentPlugin

Values = Mapping[str, Value]
# Columns of one-hot encoding of a whole table.
ALL_ONE_HOT = 1024


def components() -> Iterator[ComponentPlugin]:
    """Yield the components that turn a raw table into numbers."""
    yield transformer(
        "impute",
        "fills missing numbers; encodes categories, text and tags by what they are",
        build_impute,
        choice("strategy", "mean", "median", "most_frequent"),
        idle_without_gaps=["strategy"],
    )
    yield transformer(
        "one_hot",
        "a column for each level, of many levels too",
        build_one_hot,
        whole("max_levels", 16, 512, 128, log=True),
        needs=["many_levels"],
    )
    yield transformer("ordinal", "a number for each level", build_ordinal, needs=["categorical"])
    yield transformer(
        "target", "the mean target of each level", build_target, needs=["categorical"]
    )
    yield transformer(
        "counts",
        "as impute, and the share of the rows with a level",
        build_counts,
        needs=["many_levels"],
    )
    yield transformer(
        "char_text",
        "as impute, but text by parts of its words",
        build_char_text,
        whole("longest", 2, 5, 4),
        needs=["text"],
    )


def build_impute(values: Values, context: BuildContext) -> Any:
    """Build the default: what suits most columns of a kind.

    A number column is filled by `strategy`, and by 0 in a fold without any of its values. A
    category column of few levels is one-hot encoded, one of many by the mean target of its levels.
    A text becomes its topics and its telling words, tags become columns of 0 and 1. Without any
    of these the imputer stands alone: routing columns would cost most of the time of a prediction.
    """
    strategy = values.get("strategy", "mean")
    if not context.kinds:
        return routes.imputer(strategy)
    numbers = routes.fill(context.numeric, strategy)
    return _join([*numbers, *_by_levels(context), *routes.text(context), *routes.tags(context)])


def build_one_hot(values: Values, context: BuildContext) -> Any:
    """Build the encoder with a column for each of `max_levels` levels at most."""
    most = max(2, ALL_ONE_HOT // max(1, len(context.categorical)))
    asked = int(str(values.get("max_levels", FEW_LEVELS)))
    return _encoder(context, routes.one_hot(context.categorical, min(asked, most)))


def build_ordinal(values: Values, context: BuildContext) -> Any:  # noqa: ARG001
    """Build the encoder with one number column for a category column: enough for trees."""
    numbers = [*routes.numbered(context.unordered), *routes.in_order(context)]
    return _encoder(context, numbers)


def build_target(values: Values, context: BuildContext) -> Any:  # noqa: ARG001
    """Build the encoder by the mean target, of columns of few levels, too."""
    return _encoder(context, routes.by_target(context.categorical, context))


def build_counts(values: Values, context: BuildContext) -> Any:  # noqa: ARG001
    """Build the default with a column more for each category column of many levels."""
    shares = routes.frequencies(context.having_more(FEW_LEVELS))
    return _encoder(context, [*_by_levels(context), *shares])


def build_char_text(values: Values, context: BuildContext) -> Any:
    """Build the default with text by its n-grams of characters, for typing errors and endings."""
    longest = int(str(values.get("longest", 4)))
    characters = {"analyzer": "char_wb", "ngram_range": (2, longest), "token_pattern": None}
    found = [*routes.fill(context.numeric), *_by_levels(context), *routes.tags(context)]
    return _join([*found, *routes.text(context, **characters)])


def _by_levels(context: BuildContext) -> Iterator[routes.Route]:
    many = context.having_more(FEW_LEVELS)
    yield from routes.one_hot([column for column in context.categorical if column not in many])
    yield from routes.by_target(many, context)


def _encoder(context: BuildContext, categories: Iterable[routes.Route]) -> Any:
    numbers = routes.fill(context.numeric)
    return _join([*numbers, *categories, *routes.text(context), *routes.tags(context)])


def _join(found: list[routes.Route]) -> Any:
    from sklearn.compose import ColumnTransformer

    if not found:  # behind another component, where the kinds of columns are not known
        return routes.imputer("mean")
    # Always dense: many of the later steps refuse sparse tables.
    return ColumnTransformer(found, sparse_threshold=0)
