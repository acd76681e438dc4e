"""Components that make new columns of the old ones: projections, kernels, factors, products."""

from __future__ import annotations

from collections.abc import Iterator

from automl_admm.builtin.components.declare import (
    choice,
    flag,
    of,
    real,
    switch,
    transformer,
    whole,
)
from automl_admm.core.space import Parameter
from automl_admm.plugins.records import ComponentPlugin

DECOMPOSITION = "sklearn.decomposition"
PROJECTION = "sklearn.random_projection"
KERNELS = "sklearn.kernel_approximation"


# Table A2, continuous and discrete parameters: sparse_random 1c 1d; gaussian_random 1d; rbf_sampler
# 1c 1d; nystroem 2c 3d; truncated_svd 2d; kernel_pca 2c 4d; fast_ica 5d; factor_analysis 3d; pca 1c
# 1d; polynomial 3d.
def components() -> Iterator[ComponentPlugin]:
    """Yield the transformers of the paper's Table A2."""
    yield from projections()
    yield from kernel_maps()
    yield from factors()
    yield transformer(
        "polynomial_features",
        "products of columns",
        of("sklearn.preprocessing", "PolynomialFeatures"),
        whole("degree", 2, 3, 2),
        flag("interaction_only", default=False),
        flag("include_bias", default=False),
    )


def width(default: int = 32) -> Parameter:
    """Declare the number of output columns; the data cap it if necessary."""
    return whole("n_components", 2, 256, default, log=True)


def gamma() -> Parameter:
    """Declare the inverse width of a kernel: a default for some fifty standardised columns."""
    return real("gamma", 3e-5, 8.0, 0.02, log=True)


def projections() -> Iterator[ComponentPlugin]:
    """Yield random projections."""
    yield transformer(
        "sparse_random_projection",
        "random projection with many zeros",
        # Dense output, because later steps may refuse sparse tables.
        of(PROJECTION, "SparseRandomProjection", dense_output=True),
        real("density", 0.01, 1.0, 0.3, log=True),
        width(),
        n_components="columns",
    )
    yield transformer(
        "gaussian_random_projection",
        "random projection",
        of(PROJECTION, "GaussianRandomProjection"),
        width(),
        n_components="columns",
    )


def kernel_maps() -> Iterator[ComponentPlugin]:
    """Yield maps into the space of a kernel."""
    yield transformer(
        "rbf_sampler",
        "random Fourier features",
        of(KERNELS, "RBFSampler"),
        gamma(),
        whole("n_components", 16, 1000, 100, log=True),
    )
    yield transformer(
        "nystroem",
        "kernel map from a sample of rows",
        of(KERNELS, "Nystroem"),
        gamma(),
        real("coef0", -1.0, 1.0, 0.0),
        choice("kernel", "rbf", "poly", "sigmoid", "cosine"),
        whole("n_components", 16, 1000, 100, log=True),
        whole("degree", 2, 5, 3),
        n_components="rows",
    )
    yield transformer(
        "kernel_pca",
        "principal components in the space of a kernel",
        of(DECOMPOSITION, "KernelPCA"),
        gamma(),
        real("coef0", -1.0, 1.0, 0.0),
        choice("kernel", "rbf", "poly", "sigmoid", "cosine"),
        width(),
        whole("degree", 2, 5, 3),
        flag("remove_zero_eig", default=False),
        n_components="rows",
    )


def factors() -> Iterator[ComponentPlugin]:
    """Yield linear decompositions."""
    yield transformer(
        "pca",
        "principal components that keep a share of the variance",
        # A share of the variance as `n_components` needs the full solver.
        of(DECOMPOSITION, "PCA", svd_solver="full"),
        real("n_components", 0.5, 0.9999, 0.99),
        flag("whiten", default=False),
    )
    yield transformer(
        "truncated_svd",
        "singular vectors, without centring",
        of(DECOMPOSITION, "TruncatedSVD"),
        width(),
        whole("n_iter", 2, 10, 5),
        n_components="columns",
    )
    yield transformer(
        "fast_ica",
        "independent components",
        of(DECOMPOSITION, "FastICA"),
        width(10),
        switch("algorithm", "parallel", "deflation"),
        switch("whiten", "unit-variance", "arbitrary-variance"),
        choice("fun", "logcosh", "exp", "cube"),
        switch("whiten_solver", "svd", "eigh"),
        n_components="columns",
    )
    yield transformer(
        "factor_analysis",
        "factors with a noise of their own for each column",
        of(DECOMPOSITION, "FactorAnalysis"),
        width(),
        switch("svd_method", "randomized", "lapack"),
        switch("rotation", None, "varimax"),
        n_components="columns",
    )
