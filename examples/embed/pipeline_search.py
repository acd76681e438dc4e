"""A search as a step of scikit-learn's own searches, each with a budget of its own.

A fit of the whole is many fits of the step, and each spends its own budget: five searches of 30 s
take 150 s. What is printed tells how many there were.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from automl_admm import AutoMLClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    X.iloc[:300, :8], y[:300], stratify=y[:300], random_state=0
)

# In seconds it would be time_budget="30s". No processes of its own: whoever searches around it
# may start some (n_jobs of cross_val_score), and processes of processes crowd the cores.
search = AutoMLClassifier(
    "tiny", cv=2, max_evaluations=2, executor="inline", ensemble=False, random_state=0
)


@contextmanager
def telling(what: str, fits: int) -> Iterator[None]:
    """Tell how long something took, and how many searches it was."""
    begun = monotonic()
    yield
    print(f"{what}: {fits} searches in {monotonic() - begun:.1f} s")


# 1. A step of a pipeline, cross-validated: a search sees the training rows of its fold alone.
scaled = make_column_transformer(
    (StandardScaler(), make_column_selector(dtype_include="number")),
    verbose_feature_names_out=False,
).set_output(transform="pandas")
pipeline = make_pipeline(scaled, search)
with telling("cross_val_score", fits=2):
    scores = cross_val_score(pipeline, X_train, y_train, cv=2, scoring="roc_auc")
print("  roc_auc by fold:", [round(float(score), 3) for score in scores])

# 2. Its parameters, searched from outside: here the limit.
choices = {"automlclassifier__constraints": [(), ("size_mb <= 1",)]}
grid = GridSearchCV(pipeline, choices, cv=2, scoring="roc_auc")
with telling("GridSearchCV", fits=2 * 2 + 1):
    grid.fit(X_train, y_train)
print("  best limits:", grid.best_params_["automlclassifier__constraints"] or "none")

# 3. A member of an ensemble: fitted on all rows, then once more for each fold.
stack = StackingClassifier(
    [("automl", search), ("linear", make_pipeline(StandardScaler(), LogisticRegression()))], cv=2
)
with telling("StackingClassifier", fits=1 + 2):
    stack.fit(X_train, y_train)
print(f"  accuracy on unseen rows: {stack.score(X_test, y_test):.3f}")
print("  inside:", stack.named_estimators_["automl"].best_text_)
