"""Linear estimators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from automl_admm.builtin.components.declare import (
    Imported,
    choice,
    estimator,
    flag,
    of,
    real,
    switch,
    whole,
)
from automl_admm.plugins.records import BuildContext, ComponentPlugin

LINEAR = "sklearn.linear_model"
INTERCEPT_SCALING = 100.0
SVM = "sklearn.svm"


# Table A2 has one of these: logistic_regression, 2 continuous and 3 discrete parameters.
def components() -> Iterator[ComponentPlugin]:
    """Yield linear classifiers and regressors."""
    yield estimator(
        "logistic_regression",
        "linear model of the log-odds",
        "classification",
        Logistic(LINEAR, "LogisticRegression"),
        real("C", 1e-4, 1e4, 1.0, log=True),
        real("l1_ratio", 0.0, 1.0, 0.0),
        flag("fit_intercept", default=True),
        switch("class_weight", None, "balanced"),
        whole("max_iter", 50, 1000, 300, log=True),
    )
    yield estimator(
        "ridge",
        "linear model, squared penalty",
        "regression",
        of(LINEAR, "Ridge"),
        real("alpha", 1e-4, 1e4, 1.0, log=True),
        flag("fit_intercept", default=True),
    )
    yield estimator(
        "elastic_net",
        "linear model, mixed penalty",
        "regression",
        of(LINEAR, "ElasticNet", max_iter=2000),
        real("alpha", 1e-5, 1e2, 0.01, log=True),
        real("l1_ratio", 0.0, 1.0, 0.5),
    )
    yield from linear_svms()
    yield from descents()


@dataclass(frozen=True, slots=True)
class Logistic(Imported):
    """The factory of logistic regression: it chooses the solver by the penalty and the classes."""

    def __call__(self, values: Mapping[str, Any], context: BuildContext) -> Any:
        """Build the model."""
        from sklearn.linear_model import LogisticRegression

        share = values.get("l1_ratio", 0.0)
        if share == 1.0 and context.classes == 2:
            # On wide tables far faster than saga, and at the optimum. It penalises the
            # intercept, by so much less.
            return LogisticRegression(
                solver="liblinear", intercept_scaling=INTERCEPT_SCALING, **values
            )
        # Only saga takes a mixture of penalties.
        return LogisticRegression(solver="saga" if share > 0 else "lbfgs", **values)


def linear_svms() -> Iterator[ComponentPlugin]:
    """Yield support vector machines without a kernel."""
    penalty = real("C", 1e-4, 1e4, 1.0, log=True)
    yield estimator(
        "linear_svm",
        "widest margin, linear",
        "classification",
        # Not every loss has a primal form; "auto" chooses the form by the loss and the shape of the
        # table.
        of(SVM, "LinearSVC", dual="auto"),
        penalty,
        switch("loss", "squared_hinge", "hinge"),
        switch("class_weight", None, "balanced"),
    )
    yield estimator(
        "linear_svm",
        "widest tube, linear",
        "regression",
        of(SVM, "LinearSVR", dual="auto"),
        penalty,
        real("epsilon", 1e-3, 1.0, 0.1, log=True),
        switch("loss", "epsilon_insensitive", "squared_epsilon_insensitive"),
    )


def descents() -> Iterator[ComponentPlugin]:
    """Yield linear models fitted by stochastic gradient descent, for many rows."""
    shared = (
        real("alpha", 1e-7, 0.1, 1e-4, log=True),
        real("l1_ratio", 0.0, 1.0, 0.15),
        choice("penalty", "l2", "l1", "elasticnet"),
        flag("average", default=False),
    )
    yield estimator(
        "sgd",
        "linear model by gradient descent",
        "classification",
        of(LINEAR, "SGDClassifier"),
        *shared,
        choice("loss", "log_loss", "hinge", "modified_huber"),
        switch("class_weight", None, "balanced"),
    )
    yield estimator(
        "sgd",
        "linear model by gradient descent",
        "regression",
        of(LINEAR, "SGDRegressor"),
        *shared,
        choice("loss", "squared_error", "huber", "epsilon_insensitive"),
        real("eta0", 1e-4, 0.1, 0.01, log=True),
    )
