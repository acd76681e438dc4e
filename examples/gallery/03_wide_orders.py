# %% [markdown]
# # Few rows, many columns: orders of steps
#
# 208 echoes of a sonar, each of 60 numbers: is it a mine or a rock? With so few rows it matters
# whether columns are scaled before or after the best of them are selected, and a grammar can
# leave that to the search.

# %%
import os
import sys
import tempfile
from pathlib import Path

import pandas as pd

from automl_admm import AutoMLClassifier

QUICK = "--quick" in sys.argv or "AUTOML_ADMM_QUICK" in os.environ
BUDGET = {"max_evaluations": 4 if QUICK else 60, "cv": 2 if QUICK else 5}
HERE = Path(__file__).parent if "__file__" in globals() else Path()

# %%
table = pd.read_csv(HERE / "data" / "sonar.csv")
y = table.pop("Class")
print(f"{len(table)} rows, {table.shape[1]} columns; {(y == 'Mine').sum()} mines")

# %% [markdown]
# ## The grammar
#
# `any_order{…}` runs its modules in any order. Each of them may be `none`, so one of these
# pipelines has nothing but the estimator, and others have three steps before it, in six orders.

# %%
GRAMMAR = """
%import components (standard_scaler, quantile_transformer)
%import components (select_percentile, variance_threshold, pca, nystroem)
%import components (logistic_regression, linear_svm, k_neighbors)

start: any_order{scaler, selector, reducer} estimator
scaler: none | standard_scaler | quantile_transformer
selector: none | select_percentile | variance_threshold
reducer: none | pca | nystroem
estimator: logistic_regression | linear_svm | k_neighbors
"""
grammar = Path(tempfile.mkdtemp(prefix="automl-admm-gallery-")) / "orders.lark"
grammar.write_text(GRAMMAR)
search = AutoMLClassifier(grammar=grammar, **BUDGET, positive="Mine", random_state=0)
search.fit(table, y)
print(search.best_text_)
print(f"ROC AUC {search.best_score_:.3f} in validation")

# %% [markdown]
# ## The pipeline
#
# It is a plain object of scikit-learn; its steps stand in the order that was found.

# %%
print(search.best_pipeline_)

# %%
axes = search.plot_convergence()

# %% [markdown]
# More: [why orders matter](../../docs/explanation/orders.md), [the
# grammar](../../docs/reference/grammar.md).
