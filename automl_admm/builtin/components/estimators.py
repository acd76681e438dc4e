"""Estimators neither linear nor made of trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from automl_admm.builtin.components.declare import (
    Arguments,
    choice,
    estimator,
    flag,
    of,
    real,
    switch,
    whole,
)
from automl_admm.plugins.records import ComponentPlugin

GAUSSIAN_PROCESS = "sklearn.gaussian_process"
NEURAL = "sklearn.neural_network"
# The solver's own default has no limit, and some kernels never converge.
MOST_SVM_STEPS = 50_000


# Table A2, continuous and discrete parameters: gaussian_nb none; qda 1c; k_neighbors 3d;
# gaussian_process 2d; mlp 2c 5d.
def components() -> Iterator[ComponentPlugin]:
    """Yield densities, neighbours, kernels and networks."""
    yield estimator(
        "gaussian_nb",
        "columns as independent normal distributions",
        "classification",
        of("sklearn.naive_bayes", "GaussianNB"),
    )
    yield estimator(
        "qda",
        "one normal distribution a class",
        "classification",
        # This solver takes a class with fewer rows than columns, or columns that depend on each
        # other; the default one refuses them, shrunk or not. Shrinking keeps every variance above
        # 0. The default tolerance has a unit and would refuse columns of small numbers.
        of(
            "sklearn.discriminant_analysis",
            "QuadraticDiscriminantAnalysis",
            solver="eigen",
            tol=0.0,
        ),
        real("shrinkage", 0.001, 1.0, 0.1, log=True),
    )
    yield from neighbours()
    yield from gaussian_processes()
    yield from networks()
    yield from svms()


def neighbours() -> Iterator[ComponentPlugin]:
    """Yield votes and means of the nearest rows."""
    parameters = (
        whole("n_neighbors", 1, 100, 5, log=True),
        switch("weights", "uniform", "distance"),
        switch("p", 2, 1),
    )
    where, kind = "sklearn.neighbors", "nearest rows"
    # `capped` by the rows: more neighbours than rows is an error at prediction.
    factory = of(where, "KNeighborsClassifier")
    yield estimator("k_neighbors", kind, "classification", factory, *parameters, n_neighbors="rows")
    factory = of(where, "KNeighborsRegressor")
    yield estimator("k_neighbors", kind, "regression", factory, *parameters, n_neighbors="rows")


def gaussian_processes() -> Iterator[ComponentPlugin]:
    """Yield Gaussian processes; their cost grows with the cube of the rows."""
    kernel = choice("kernel", "rbf", "matern", "rational_quadratic")
    restarts = whole("n_restarts_optimizer", 0, 2, 0)
    yield estimator(
        "gaussian_process",
        "Gaussian process, for few rows",
        "classification",
        of(GAUSSIAN_PROCESS, "GaussianProcessClassifier", classifier_kernel),
        kernel,
        restarts,
    )
    yield estimator(
        "gaussian_process",
        "Gaussian process, for few rows",
        "regression",
        # The prior mean is 0, so the target must be centred.
        of(GAUSSIAN_PROCESS, "GaussianProcessRegressor", regressor_kernel, normalize_y=True),
        kernel,
        restarts,
    )


def classifier_kernel(values: Arguments) -> Arguments:
    """Make the kernel from its name."""
    return {**values, "kernel": _kernel(values.get("kernel", "rbf"))}


def regressor_kernel(values: Arguments) -> Arguments:
    """Make the kernel from its name, and let the target be noisy."""
    from sklearn.gaussian_process.kernels import WhiteKernel

    return {**values, "kernel": _kernel(values.get("kernel", "rbf")) + WhiteKernel(0.1)}


def _kernel(name: str) -> Any:
    """Return the named kernel with its starting values; fitting tunes them."""
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, RationalQuadratic

    kinds = {
        "rbf": RBF(3.0),
        "matern": Matern(3.0, nu=2.5),
        "rational_quadratic": RationalQuadratic(3.0),
    }
    return ConstantKernel(1.0) * kinds[name]


def networks() -> Iterator[ComponentPlugin]:
    """Yield multilayer perceptrons."""
    parameters = (
        real("alpha", 1e-7, 0.1, 1e-4, log=True),
        real("learning_rate_init", 1e-4, 0.3, 1e-3, log=True),
        whole("layers", 1, 3, 1),
        whole("units", 16, 256, 64, log=True),
        whole("batch_size", 16, 256, 64, log=True),
        switch("activation", "relu", "tanh"),
        flag("early_stopping", default=False),
    )
    kind = "neural network"
    factory = of(NEURAL, "MLPClassifier", network_arguments)
    yield estimator("mlp", kind, "classification", factory, *parameters, batch_size="rows")
    factory = of(NEURAL, "MLPRegressor", network_arguments)
    yield estimator("mlp", kind, "regression", factory, *parameters, batch_size="rows")


def network_arguments(values: Arguments) -> Arguments:
    """Join depth and width into scikit-learn's layer sizes."""
    sizes = (values.pop("units", 64),) * values.pop("layers", 1)
    return {**values, "hidden_layer_sizes": sizes}


def svms() -> Iterator[ComponentPlugin]:
    """Yield support vector machines with a kernel; steps are limited, because some never end."""
    shared = (
        real("C", 0.03, 3e4, 1.0, log=True),
        real("gamma", 3e-5, 8.0, 0.02, log=True),
        real("coef0", -1.0, 1.0, 0.0),
        choice("kernel", "rbf", "poly", "sigmoid"),
        whole("degree", 2, 5, 3),
    )
    where = "sklearn.svm"
    yield estimator(
        "svm",
        "widest margin in the space of a kernel",
        "classification",
        of(where, "SVC", max_iter=MOST_SVM_STEPS),
        *shared,
        switch("class_weight", None, "balanced"),
    )
    yield estimator(
        "svm",
        "widest tube in the space of a kernel",
        "regression",
        of(where, "SVR", max_iter=MOST_SVM_STEPS),
        *shared,
        real("epsilon", 1e-3, 1.0, 0.1, log=True),
    )
