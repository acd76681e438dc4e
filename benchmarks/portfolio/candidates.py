"""The pipelines that a portfolio may be made of, as texts of the grammar `default`.

Each estimator stands with its defaults and with settings that are known to work, behind the steps
that suit it. A table takes those that its grammar derives: one of numbers has no `target`.
"""

from __future__ import annotations

NORMAL = 'quantile_transformer(output_distribution="normal")'
FOREST = "n_estimators=200, max_features=0.5, min_samples_leaf=3"
TREES = "n_estimators=200, max_features=1.0, min_samples_leaf=2"
GENTLE = "learning_rate=0.06, n_estimators=150"
GENTLE_LEAVES = f"{GENTLE}, num_leaves=15, min_child_samples=5, colsample_bytree=0.5, subsample=0.8"
DEEP_LEAVES = (
    "learning_rate=0.06, n_estimators=200, num_leaves=31, min_child_samples=10, reg_lambda=1.0, "
    "colsample_bytree=0.4, subsample=0.8"
)
SHORT_LEAVES = "learning_rate=0.1, n_estimators=60, num_leaves=7, reg_lambda=1.0"
GENTLE_DEPTH = f"{GENTLE}, max_depth=4, colsample_bytree=0.5, subsample=0.8"
DEEP_DEPTH = (
    "learning_rate=0.06, n_estimators=200, max_depth=6, min_child_weight=3.0, "
    "colsample_bytree=0.4, subsample=0.8"
)
SHORT_DEPTH = "learning_rate=0.1, n_estimators=80, max_depth=3"
GENTLE_BINS = "learning_rate=0.05, max_iter=150, max_leaf_nodes=15, max_features=0.5"
STOCHASTIC = f"{GENTLE}, max_depth=4, subsample=0.6, max_features=0.3"
WIDE_NET = "layers=2, units=128, alpha=0.01, learning_rate_init=0.002"

# What a timed search begins with anyway, one for each kind of task.
FIRST = (
    "impute() standard_scaler() logistic_regression()",
    "impute() standard_scaler() ridge()",
)

RAW = (
    "lightgbm()",
    f"lightgbm({GENTLE_LEAVES})",
    f"lightgbm({DEEP_LEAVES})",
    f"lightgbm({SHORT_LEAVES})",
    "xgboost()",
    f"xgboost({GENTLE_DEPTH})",
    f"xgboost({DEEP_DEPTH})",
    f"xgboost({SHORT_DEPTH})",
    "categorical_boosting()",
    f"categorical_boosting({GENTLE_BINS})",
)
# Of a table of numbers the raw table and the imputed one are nearly the same to a tree.
ON_NUMBERS = (
    "impute() lightgbm()",
    "impute() random_forest()",
    f"impute() random_forest({FOREST})",
    "impute() extra_trees()",
    f"impute() extra_trees({TREES})",
    "impute() hist_gradient_boosting()",
    f"impute() hist_gradient_boosting({GENTLE_BINS})",
    f"impute() gradient_boosting({STOCHASTIC})",
    'impute() standard_scaler() k_neighbors(n_neighbors=15, weights="distance")',
    "impute() standard_scaler() mlp()",
    f"impute() standard_scaler() mlp({WIDE_NET})",
    f"impute() {NORMAL} mlp(units=128, alpha=0.001, early_stopping=true)",
    "impute() standard_scaler() pca() extra_trees(n_estimators=200)",
    f"impute() standard_scaler() truncated_svd() lightgbm({GENTLE_LEAVES})",
    f"impute() select_percentile(percentile=5) extra_trees({TREES})",
    f"impute() select_percentile(percentile=5) random_forest({FOREST})",
    f"impute() select_percentile(percentile=5) lightgbm({GENTLE_LEAVES})",
)
ON_CATEGORIES = (
    "target() random_forest(n_estimators=200, max_features=0.3, min_samples_leaf=3)",
    f"target() extra_trees({TREES})",
    f"target() lightgbm({GENTLE_LEAVES})",
    f"target() gradient_boosting({STOCHASTIC})",
    f"ordinal() random_forest({FOREST})",
    f"ordinal() extra_trees({TREES})",
    f"ordinal() lightgbm({GENTLE_LEAVES})",
    f"ordinal() hist_gradient_boosting({GENTLE_BINS})",
    "target() standard_scaler() mlp()",
    'target() standard_scaler() k_neighbors(n_neighbors=15, weights="distance")',
)
OF_CLASSES = (
    "impute() standard_scaler() logistic_regression()",
    "impute() standard_scaler() logistic_regression(C=0.01)",
    "impute() standard_scaler() logistic_regression(C=100.0)",
    "impute() standard_scaler() logistic_regression(C=0.1, l1_ratio=1.0)",
    "impute() standard_scaler() logistic_regression(C=1.0, l1_ratio=1.0)",
    f"impute() {NORMAL} logistic_regression()",
    "impute() standard_scaler() select_percentile(percentile=2) logistic_regression()",
    "impute() standard_scaler() select_percentile(percentile=5) logistic_regression(C=0.1)",
    "impute() select_percentile(percentile=5) gaussian_nb()",
    "impute() standard_scaler() linear_svm(C=0.01)",
    "impute() standard_scaler() select_percentile(percentile=20) logistic_regression()",
    "impute() standard_scaler() nystroem(n_components=300) logistic_regression(C=10.0)",
    "impute() standard_scaler() nystroem(gamma=0.1, n_components=300) logistic_regression(C=10.0)",
    "impute() gaussian_nb()",
    f"impute() {NORMAL} gaussian_nb()",
    "impute() standard_scaler() qda()",
    "impute() standard_scaler() pca(n_components=0.95) qda(shrinkage=0.01)",
    "target() standard_scaler() logistic_regression()",
    "target() standard_scaler() nystroem(n_components=300) logistic_regression(C=10.0)",
)
OF_QUANTITIES = (
    "impute() standard_scaler() ridge()",
    "impute() standard_scaler() ridge(alpha=100.0)",
    "impute() standard_scaler() elastic_net()",
    "impute() standard_scaler() elastic_net(alpha=0.01, l1_ratio=0.5)",
    "impute() standard_scaler() elastic_net(alpha=0.1, l1_ratio=1.0)",
    "impute() standard_scaler() ridge(alpha=1000.0)",
    f"impute() {NORMAL} ridge()",
    "impute() standard_scaler() select_percentile(percentile=2) ridge()",
    "impute() standard_scaler() select_percentile(percentile=5) ridge(alpha=100.0)",
    "impute() standard_scaler() select_percentile(percentile=20) ridge()",
    "impute() standard_scaler() nystroem(n_components=300) ridge(alpha=0.1)",
    "impute() standard_scaler() nystroem(gamma=0.1, n_components=300) ridge(alpha=0.1)",
    "target() standard_scaler() ridge()",
    "target() standard_scaler() nystroem(n_components=300) ridge(alpha=0.1)",
)


def candidates_of(task: str) -> tuple[str, ...]:
    """Return the texts for `binary`, `multiclass` or `regression`."""
    own = OF_QUANTITIES if task == "regression" else OF_CLASSES
    return (*own, *RAW, *ON_NUMBERS, *ON_CATEGORIES)
