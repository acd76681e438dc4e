"""The components as grammars see them: names, ranges, and factories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from automl_admm.plugin_api import (
    BuildContext,
    ComponentPlugin,
    Growth,
    Parameter,
    PluginError,
    native_routes,
)
from automl_admm_boost.libraries import Library

Task = Literal["classification", "regression"]
TASKS: tuple[Task, ...] = ("classification", "regression")
# Of scikit-learn, for a raw table: skops does not know them by itself.
ENCODERS = (
    "numpy.dtype",
    "sklearn.model_selection._split.KFold",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.feature_selection._univariate_selection.f_regression",
)


def real(name: str, low: float, high: float, default: float, *, log: bool = False) -> Parameter:
    """Declare a continuous parameter."""
    return Parameter(name, low, high, log=log, default=default)


def whole(name: str, low: int, high: int, default: int, *, log: bool = True) -> Parameter:
    """Declare an integer parameter."""
    return Parameter(name, low, high, kind="int", log=log, default=default)


def switch(name: str, first: Any, second: Any) -> Parameter:
    """Declare a parameter of two values; the first is the default."""
    return Parameter(name, 0, 1, kind="int", default=0, values=(first, second))


SHARED = (
    real("learning_rate", 0.01, 1.0, 0.1, log=True),
    whole("n_estimators", 20, 500, 100),
    switch("early_stopping", first=False, second=True),
)
OF_LIBRARY: Mapping[str, tuple[Parameter, ...]] = {
    "lightgbm": (
        whole("num_leaves", 3, 255, 31),
        whole("min_child_samples", 1, 200, 20),
        real("reg_lambda", 1e-6, 100.0, 1e-6, log=True),
        real("colsample_bytree", 0.1, 1.0, 1.0),
        real("subsample", 0.5, 1.0, 1.0),
    ),
    "xgboost": (
        whole("max_depth", 1, 12, 6, log=False),
        real("min_child_weight", 0.01, 100.0, 1.0, log=True),
        real("reg_lambda", 1e-6, 100.0, 1.0, log=True),
        real("colsample_bytree", 0.1, 1.0, 1.0),
        real("subsample", 0.5, 1.0, 1.0),
    ),
    "catboost": (
        whole("max_depth", 1, 10, 6, log=False),
        real("reg_lambda", 0.1, 100.0, 3.0, log=True),
        real("colsample_bytree", 0.1, 1.0, 1.0),
    ),
}
# Not CatBoost: its rounds depend on the order in which it counts levels.
GROWTH = Growth(
    may_grow=lambda model: model.may_grow(), has_stopped=lambda model: model.has_stopped()
)
GROWS = {"lightgbm": GROWTH, "xgboost": GROWTH}
OF_TASK: Mapping[Task, Parameter] = {
    "classification": switch("class_weight", None, "balanced"),
    "regression": switch("loss", "squared_error", "absolute_error"),
}


@dataclass(frozen=True, slots=True)
class Factory:
    """A factory of one estimator; it goes on the raw table by itself."""

    module: str
    name: str

    def __call__(self, values: Mapping[str, Any], context: BuildContext) -> Any:
        """Build the estimator; on a raw table with the encoder of what is no number."""
        found, native = native_routes(context)
        made = getattr(import_module(self.module), self.name)
        model = made(categorical_features=list(range(native)) or None, **values)
        if not context.kinds:  # numbers alone, or the output of another component
            return model
        from sklearn.compose import ColumnTransformer
        from sklearn.pipeline import make_pipeline

        return make_pipeline(ColumnTransformer(found, sparse_threshold=0), model)


@dataclass(frozen=True, slots=True)
class Unusable:
    """The factory of a component whose library cannot be used."""

    reason: str

    def __call__(self, values: Mapping[str, Any], context: BuildContext) -> Any:  # noqa: ARG002
        """Raise the reason."""
        raise PluginError(self.reason)


def declare(library: Library, missing: str) -> Iterator[ComponentPlugin]:
    """Yield the components of a library, one for each task; say what is `missing`."""
    for task, name in zip(TASKS, library.estimators, strict=True):
        yield ComponentPlugin(
            name=library.component,
            summary=f"boosted trees of {library.title}, also on the raw table",
            role="estimator",
            tasks=(task,),
            factory=Unusable(missing) if missing else Factory(library.module, name),
            parameters=(*SHARED, *OF_LIBRARY[library.component], OF_TASK[task]),
            trusted_types=(*ENCODERS, f"{library.module}.{name}"),
            missing=missing,
            fidelity="n_estimators",
            growth=GROWS.get(library.component),
        )
