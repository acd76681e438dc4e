# %% [markdown]
# # A search in a notebook
#
# Open it in Jupyter (with jupytext) or in an editor that knows `# %%`, or run it as a script.

# %%
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import StratifiedKFold, train_test_split

from automl_admm import AutoMLClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %% [markdown]
# ## Objects rather than names
#
# A scorer, a way to split, a solver, a grammar as text and callbacks are objects of this
# notebook; no package is needed.

# %%
GRAMMAR = """
%import components (impute, standard_scaler, logistic_regression, decision_tree)

start: impute (standard_scaler logistic_regression | decision_tree)
"""


class Scatter:
    """A solver for parameters: points drawn at random around the best so far."""

    def begin(self, subproblem: Any) -> None:
        """Take in the problem; the start is the first point."""
        self.rng = np.random.default_rng(subproblem.seed)
        self.best, self.loss = np.asarray(subproblem.start), np.inf

    def ask(self, count: int, pending: list[Any]) -> list[Any]:
        """Propose points of the unit cube."""
        del pending
        noise = self.rng.normal(scale=0.2, size=(count, len(self.best)))
        return list(np.clip(self.best + noise, 0.0, 1.0))

    def tell(self, observations: list[Any]) -> None:
        """Move to the best one."""
        for one in observations:
            if one.loss < self.loss:
                self.best, self.loss = one.point, one.loss


class Best:
    """Remember the best pipeline so far after each evaluation."""

    def __init__(self) -> None:
        self.scores: list[float] = []

    def evaluation_finished(self, info: Any, evaluation: Any) -> None:
        """Take in one evaluation."""
        score = info.score_of(evaluation.loss) if evaluation.is_ranked else float("-inf")
        self.scores.append(max([score, *self.scores[-1:]]))


best = Best()
search = AutoMLClassifier(
    GRAMMAR,
    theta_solver=Scatter,
    scoring=make_scorer(fbeta_score, beta=2),
    cv=StratifiedKFold(2, shuffle=True, random_state=0),
    constraints=["size_mb <= 1"],
    callbacks=[best],
    max_evaluations=3,  # or time_budget="5m"
    verbose=1,  # one output below this cell, which updates itself
    random_state=0,
)
search.fit(X_train, y_train)

# %% [markdown]
# ## What was found

# %%
search.leaderboard()[["rank", "score", "size_mb", "seconds", "pipeline"]]

# %%
print("best so far:", [round(score, 4) for score in best.scores])
print("on unseen rows:", round(search.score(X_test, y_test), 4))

# %% [markdown]
# The winner is plain scikit-learn.

# %%
print(search.best_pipeline_)
