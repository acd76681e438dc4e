"""The number of input columns read by a fitted pipeline: other columns need not be collected.

A column counts if anything made of it arrives at the last step. Selectors drop columns, known
scalers and encoders keep them apart; any other step, such as one of a plugin, is assumed to mix all
its inputs. So the count is never too small. It does not tell if the model makes use of its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from automl_admm.core.evidence import Fact
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

Sources = list[frozenset[int]]
"""For each feature the input columns that it is made of."""


def columns(evaluated: EvaluatedPipeline) -> Fact:
    """Return the number of the user's columns with some part reaching the last step.

    Columns used in decisions, by a threshold for each group, count as well.
    """
    return Fact(float(len(columns_needed(evaluated))))


def columns_needed(evaluated: EvaluatedPipeline) -> frozenset[int]:
    """Return the places in `X` of the columns that the model reads, one for each user's column."""
    needed = [_needed(one, _places(evaluated)) for one in _pipelines_in(evaluated.pipeline)]
    return _all(needed) | _decided_by(evaluated)


def _pipelines_in(model: Any) -> Iterator[Any]:
    """Yield the pipelines of a model, through what decides and what adds classes around it."""
    if hasattr(model, "steps"):
        yield model
        return
    # An ensemble needs what any of its members needs.
    for inner in getattr(model, "estimators_", None) or [model.estimator_]:
        yield from _pipelines_in(inner)


def _needed(pipeline: Any, places: Sequence[int]) -> frozenset[int]:
    """Return the columns with some part reaching the last step of a pipeline."""
    sources: Sources = [frozenset([place]) for place in places]
    for _, step in pipeline.steps[:-1]:
        sources = _through(step, sources)
    return _all(sources)


def _places(evaluated: EvaluatedPipeline) -> list[int]:
    """Return for each column of `X` the place of the first one of the same user's column."""
    if evaluated.origins is None:
        return list(range(evaluated.X.shape[1]))
    users = [evaluated.origins.get(str(name), str(name)) for name in evaluated.X.columns]
    first = {name: place for place, name in reversed(list(enumerate(users)))}
    return [first[name] for name in users]


def _decided_by(evaluated: EvaluatedPipeline) -> frozenset[int]:
    """Return the columns grouped by a `GroupThresholdClassifier`; none for any other pipeline."""
    names = [str(name) for name in getattr(evaluated.X, "columns", ())]
    by = (names.index(name) for name in getattr(evaluated.pipeline, "columns", ()))
    places = _places(evaluated)
    return frozenset(places[place] for place in by)


def _through(step: Any, sources: Sources) -> Sources:
    """Return the sources of the output of a fitted step."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion, Pipeline

    if isinstance(step, str):
        return [] if step == "drop" else sources
    # A subclass may do more with the values than to pass them on.
    if type(step) is Pipeline:
        for _, inner in step.steps:
            sources = _through(inner, sources)
        return sources
    if type(step) is FeatureUnion:
        branches = [_through(inner, sources) for _, inner in step.transformer_list]
        return [source for branch in branches for source in branch]
    if type(step) is ColumnTransformer:
        return _routed(step, sources)
    return _of_one(step, sources)


def _routed(step: Any, sources: Sources) -> Sources:
    # The step sees other features than expected, so assume that it mixes them.
    if step.n_features_in_ != len(sources):
        return [_all(sources)]
    names = list(getattr(step, "feature_names_in_", ()))
    found: Sources = []
    for _, inner, chosen in step.transformers_:
        places = _chosen(chosen, names, len(sources))
        if places is None:
            return [_all(sources)]
        found += _through(inner, [sources[place] for place in places])
    return found


def _chosen(chosen: Any, names: Sequence[str], count: int) -> list[int] | None:
    """Return the places of chosen columns; None where they cannot be told, as of a slice."""
    # A step that takes one column as a list of texts is given its name or place alone.
    listed: Any = [chosen] if isinstance(chosen, str | Integral) else chosen
    if not isinstance(listed, Sequence):
        return None
    if all(isinstance(one, str) and one in names for one in listed):
        return [names.index(one) for one in listed]
    # A truth value is a whole number to Python: True is no place 1.
    if all(isinstance(one, bool | np.bool_) for one in listed):
        return list(map(int, np.flatnonzero(listed))) if len(listed) == count else None
    is_whole = all(isinstance(one, Integral) and not isinstance(one, bool) for one in listed)
    return list(map(int, listed)) if is_whole else None


def _of_one(step: Any, sources: Sources) -> Sources:
    if _selects(step):
        kept = step.get_support()
        # The step sees other features than expected, so assume that it mixes them.
        if len(kept) != len(sources):
            return [_all(sources)] if any(kept) else []
        return [source for source, keeps in zip(sources, kept, strict=True) if keeps]
    widths = _widths(step, len(sources))
    if widths is None:
        return [_all(sources)]
    return [source for source, width in zip(sources, widths, strict=True) for _ in range(width)]


def _selects(step: Any) -> bool:
    """Return True for a selector; one with another `transform` may do more than drop columns."""
    from sklearn.feature_selection import SelectorMixin

    return all(
        getattr(type(step), name, None) is getattr(SelectorMixin, name)
        for name in ("transform", "_transform")
    )


def _widths(step: Any, count: int) -> list[int] | None:
    """Return the number of outputs for each input of a step; None if it mixes them."""
    from sklearn.preprocessing import OneHotEncoder, TargetEncoder

    if getattr(step, "n_features_in_", None) != count:
        return None
    if type(step) is OneHotEncoder and step.drop is None:
        rare = step.infrequent_categories_ if _groups_rare(step) else [None] * count
        return [
            len(known) - (0 if few is None else len(few) - 1)
            for known, few in zip(step.categories_, rare, strict=True)
        ]
    if type(step) is TargetEncoder:
        return [1 if step.target_type_ != "multiclass" else len(step.classes_)] * count
    return [1] * count if _keeps_apart(step) else None


def _keeps_apart(step: Any) -> bool:
    """Return True for a step with one output for each input, made of nothing else.

    By its very class: scikit-learn's mark of such steps tells of names alone, and another's class
    or subclass may mix the values of a row under it.
    """
    from sklearn import preprocessing as ready
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.impute import SimpleImputer

    from automl_admm.pipelines.level_shares import LevelShares

    kind = type(step)
    if kind is SimpleImputer:
        # Without `keep_empty_features` the imputer drops columns, and indicators add some.
        return bool(step.keep_empty_features) and step.indicator_ is None
    if kind is ready.FunctionTransformer:
        # A column transformer passes columns on in one without a function.
        return step.func is None
    if kind is TfidfTransformer:
        return step.norm is None  # else it divides each value by the norm of its row
    return kind in (
        *(ready.Binarizer, ready.MaxAbsScaler, ready.MinMaxScaler, ready.OrdinalEncoder),
        *(ready.PowerTransformer, ready.QuantileTransformer, ready.RobustScaler),
        *(ready.StandardScaler, LevelShares),
    )


def _groups_rare(encoder: Any) -> bool:
    return encoder.max_categories is not None or encoder.min_frequency is not None


def _all(sources: Sources) -> frozenset[int]:
    return frozenset().union(*sources)
