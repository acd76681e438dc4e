"""The ways of columns of each kind to numbers: routes of a `ColumnTransformer`.

Every object is scikit-learn's own, so that a saved model needs no code of ours. All take what
training did not see: a new level, a gap, an empty text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from automl_admm.plugins.records import FEW_LEVELS, BuildContext

Route = tuple[str, Any, Any]
"""A name, a transformer, and its columns."""

MOST_TAGS = 64
# Real levels are numbered from 0.
MISSING, UNKNOWN = -1, -2
FOLDS = 5
# Columns of target encoding at most; with many classes the best of them are kept.
MOST_TARGETS = 256
# Levels of a column that a model splits itself; scikit-learn's boosting takes 255.
MOST_NATIVE = 250
# Words share this many places, so that a vocabulary is neither empty nor a part of the model.
PLACES = 2**13
# Columns of one text, and of all texts, of each of the two ways to make them.
TEXT_COLUMNS = 64
ALL_TEXT_COLUMNS = 256
# A text without any word, such as an empty one, is a word of its own.
WORDS = r"(?u)\b\w+\b|^\W*$"
TAGS = r"[^\x1f]+|^\x1f*$"


def fill(columns: Sequence[Any], strategy: Any = "mean") -> Iterator[Route]:
    """Number columns without gaps."""
    if columns:
        yield "numeric", imputer(strategy), list(columns)


def imputer(strategy: Any) -> Any:
    """Fill gaps; a column without any value becomes 0."""
    from sklearn.impute import SimpleImputer

    return SimpleImputer(strategy=strategy, keep_empty_features=True)


def one_hot(columns: Sequence[Any], most: int = FEW_LEVELS) -> Iterator[Route]:
    """A column for each level, at most so many; rare levels share one, and new ones join them.

    A missing value is a level.
    """
    from sklearn.preprocessing import OneHotEncoder

    if columns:
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=most, sparse_output=False
        )
        yield "categorical", encoder, list(columns)


def numbered(columns: Sequence[Any], most: int | None = None) -> Iterator[Route]:
    """A number for each level, by the alphabet; rare ones above a number of levels share one.

    A missing value and a new level have numbers of their own.
    """
    if columns:
        yield "categorical", _numbers(max_categories=most), list(columns)


def in_order(context: BuildContext) -> Iterator[Route]:
    """A number for each level of the columns with an order, in that order."""
    if orders := context.ordered:
        yield "ordered", _numbers(categories=list(map(list, orders.values()))), list(orders)


def _numbers(**options: Any) -> Any:
    from sklearn.preprocessing import OrdinalEncoder

    return OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=UNKNOWN,
        encoded_missing_value=MISSING,
        **options,
    )


def frequencies(columns: Sequence[Any]) -> Iterator[Route]:
    """The share of the training rows with the level."""
    from automl_admm.pipelines.level_shares import LevelShares

    if columns:
        yield "shares", LevelShares(), list(columns)


def by_target(columns: Sequence[Any], context: BuildContext) -> Iterator[Route]:
    """The mean target of each level, shrunk to that of all; a class each if there are several.

    Training rows get the means of other rows. Folds that do not look at the classes take classes
    of one row, too.
    """
    from sklearn.model_selection import KFold
    from sklearn.preprocessing import TargetEncoder

    if columns:
        encoder = TargetEncoder(
            target_type="continuous" if context.task == "regression" else "auto",
            cv=KFold(FOLDS, shuffle=True, random_state=0),
        )
        yield "levels", _bounded(encoder, len(columns) * context.classes), list(columns)


def _bounded(encoder: Any, width: int) -> Any:
    from sklearn.feature_selection import SelectPercentile
    from sklearn.pipeline import make_pipeline

    if width <= MOST_TARGETS:
        return encoder
    return make_pipeline(encoder, SelectPercentile(percentile=100 * MOST_TARGETS / width))


def text(context: BuildContext, **how: Any) -> Iterator[Route]:
    """For each text its main topics, and the words that tell most about the target."""
    size = max(1, min(TEXT_COLUMNS, ALL_TEXT_COLUMNS // max(1, len(context.text))))
    for place, column in enumerate(context.text):
        # One column by its name alone, not in a list: the vectorizer takes texts, not rows.
        yield f"text_{place}", _of_text(context, size, how), column


def _of_text(context: BuildContext, size: int, how: dict[str, Any]) -> Any:
    import numpy as np
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
    from sklearn.feature_selection import SelectKBest, chi2, f_regression
    from sklearn.pipeline import FeatureUnion, make_pipeline

    counts = HashingVectorizer(
        n_features=PLACES,
        alternate_sign=False,
        norm=None,
        dtype=np.float32,
        **({"token_pattern": WORDS} | how),
    )
    test = f_regression if context.task == "regression" else chi2
    parts = [("topics", TruncatedSVD(size)), ("words", SelectKBest(test, k=size))]
    return make_pipeline(counts, TfidfTransformer(sublinear_tf=True), FeatureUnion(parts))


def tags(context: BuildContext) -> Iterator[Route]:
    """The most frequent tags as columns of 0 and 1; new tags are left out."""
    from sklearn.feature_extraction.text import CountVectorizer

    for place, column in enumerate(context.tags):
        counts = CountVectorizer(
            binary=True, lowercase=False, token_pattern=TAGS, max_features=MOST_TAGS
        )
        yield f"tags_{place}", counts, column


def native_routes(
    context: BuildContext, numbers: Any = "passthrough", most: int = MOST_NATIVE
) -> tuple[list[Route], int]:
    """Return the routes of a raw table to a model that splits sets of levels, gaps included.

    Category columns of at most `most` levels come first, as many as the number returned beside the
    routes; their levels are numbered from 0, a missing one is -1 and a new one -2. Columns of more
    levels are encoded by the target, text and tags as everywhere. Levels with an order are numbered
    in it, as numbers that no model splits into sets. Number columns go through the transformer
    `numbers`. There is no route where the kinds of columns are not known: behind another component.

    >>> from automl_admm.plugin_api import BuildContext
    >>> table = BuildContext("regression", numeric=("age",), categorical=("sex",), levels=(2,))
    >>> routes, native = native_routes(table)
    >>> [(name, columns) for name, _, columns in routes], native
    ([('categorical', ['sex']), ('numeric', ['age'])], 1)
    """
    many = [column for column in context.having_more(most) if column not in context.ordered]
    native = [column for column in context.unordered if column not in many]
    figures = [("numeric", numbers, list(context.numeric))] if context.numeric else []
    encoded = [*by_target(many, context), *text(context), *tags(context)]
    return [*numbered(native, most), *figures, *in_order(context), *encoded], len(native)
