"""Types in the files of fitted components, beside those that skops trusts by itself.

They are data holders of numpy, scipy and scikit-learn; none of them runs code that it is given.
"""

from __future__ import annotations

KERNELS = tuple(
    f"sklearn.gaussian_process.kernels.{name}"
    for name in [
        "ConstantKernel",
        "Matern",
        "Product",
        "RBF",
        "RationalQuadratic",
        "Sum",
        "WhiteKernel",
    ]
)
TREE = ("sklearn.tree._tree.Tree",)
# The tests of columns stand in the file by name.
F_TESTS = tuple(
    f"sklearn.feature_selection._univariate_selection.{name}"
    for name in ("f_classif", "f_regression")
)
# Target encoding keeps its folds, the columns of a text the test that chose them.
ENCODERS = (
    "sklearn.model_selection._split.KFold",
    "sklearn.feature_selection._univariate_selection.chi2",
    *F_TESTS,
)
HISTOGRAMS = ("sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor", *ENCODERS)
# Boosting that splits categories itself prepares its columns by a function with fixed arguments.
# `functools.partial` only holds them: a function in it has to be trusted by itself.
NATIVE = ("functools.partial", "sklearn.utils.validation.check_array")
# Nearly every fitted object has arrays, and so has types of their cells.
ARRAYS = ("numpy.dtype",)
BY_COMPONENT = {
    **dict.fromkeys(
        ("decision_tree", "random_forest", "extra_trees", "ada_boost", "gradient_boosting"), TREE
    ),
    **dict.fromkeys(("select_percentile", "select_fpr", "select_fdr", "select_fwe"), F_TESTS),
    "gaussian_process": (
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        *KERNELS,
    ),
    **dict.fromkeys(("impute", "one_hot", "ordinal", "target", "char_text"), ENCODERS),
    "counts": ("automl_admm.pipelines.level_shares.LevelShares", *ENCODERS),
    "hist_gradient_boosting": HISTOGRAMS,
    "categorical_boosting": (*HISTOGRAMS, *NATIVE),
    "k_neighbors": (
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
    ),
    "mlp": ("sklearn.neural_network._stochastic_optimizers.AdamOptimizer",),
    "sparse_random_projection": ("scipy.sparse._csr.csr_matrix",),
}


def trusted_types(component: str) -> tuple[str, ...]:
    """Return the types of a fitted component, for `ComponentPlugin.trusted_types`."""
    return (*ARRAYS, *BY_COMPONENT.get(component, ()))
