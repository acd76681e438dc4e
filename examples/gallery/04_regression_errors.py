# %% [markdown]
# # Regression with limits on its errors, by group
#
# A model predicts how diabetes goes on for a year. Its mean absolute error must not exceed 48,
# and the errors of the two groups of sex may differ by 5 at most.

# %%
import os
import sys

from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

from automl_admm import AutoMLRegressor

QUICK = "--quick" in sys.argv or "AUTOML_ADMM_QUICK" in os.environ
BUDGET = {"max_evaluations": 3, "cv": 2, "grammar": "tiny"} if QUICK else {"time_budget": "60s"}

# %% [markdown]
# ## The table
#
# 442 patients (scikit-learn's `load_diabetes`). It codes sex as 1 and 2, and does not say which
# is which.

# %%
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X["sex"] = X["sex"].map({1.0: "first", 2.0: "second"})
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
print(X_train["sex"].value_counts().to_string())

# %% [markdown]
# ## The search
#
# Any scorer of scikit-learn is a limit by its name; errors are negative there, as larger is
# better. Each has a gap between groups. The search itself maximises R².

# %%
search = AutoMLRegressor(
    **BUDGET,
    constraints=["neg_mean_absolute_error >= -48", "neg_mean_absolute_error_gap[sex] <= 5"],
    on_infeasible="closest",
    random_state=0,
)
search.fit(X_train, y_train)
print(search.best_text_)
print(f"R² {search.best_score_:.3f} in validation; within the limits: {search.feasible_}")

# %% [markdown]
# ## New rows
#
# The limits were measured on few rows. New ones tell how far to trust that.

# %%
predicted = search.predict(X_test)
for group, rows in X_test.reset_index(drop=True).groupby("sex").groups.items():
    error = mean_absolute_error(y_test.iloc[rows], predicted[rows])
    print(f"{group}: mean absolute error {error:.1f} on {len(rows)} rows")

# %%
axes = search.plot_pareto("neg_mean_absolute_error_gap[sex]")

# %% [markdown]
# More: [limits](../../docs/how_to/limits.md), [keep groups alike](../../docs/how_to/fairness.md).
