# %% [markdown]
# # Predictions under 50 µs a row
#
# A scanner reads digits, and the service behind it has 50 microseconds for each. The most
# accurate model may be too slow: the limit goes into the search, and not into a check at its end.

# %%
import os
import sys

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from automl_admm import AutoMLClassifier

QUICK = "--quick" in sys.argv or "AUTOML_ADMM_QUICK" in os.environ
BUDGET = {"max_evaluations": 3, "cv": 2, "grammar": "tiny"} if QUICK else {"time_budget": "60s"}

# %% [markdown]
# ## The table
#
# 1,797 pictures of 8 by 8 points (scikit-learn's `load_digits`, from the UCI Machine Learning
# Repository).

# %%
X, y = load_digits(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
print(f"{len(X_train)} rows to learn from, {X.shape[1]} columns, {y.nunique()} digits")

# %% [markdown]
# ## The search
#
# `latency_us` is the time of `predict` on a batch of 1,000 rows, for one row. One worker, so that
# no other evaluation is in the way of the clock.

# %%
search = AutoMLClassifier(
    **BUDGET,
    scoring="accuracy",
    constraints=["latency_us <= 50"],
    n_jobs=1,
    on_infeasible="closest",
    random_state=0,
)
search.fit(X_train, y_train)
print(search.best_text_)
print("within the limit:", search.feasible_)
found = search.score(X_test, y_test)
print(f"accuracy {search.best_score_:.3f} in validation, {found:.3f} on new rows")

# %% [markdown]
# ## How fast are the others?

# %%
board = search.leaderboard()
print(board[["rank", "score", "latency_us", "feasible"]].head(10).to_string(index=False))

# %%
axes = search.plot_limits()

# %% [markdown]
# More: [keep predictions fast](../../docs/how_to/latency.md). What one row alone takes is another
# limit, `latency_ms`.
