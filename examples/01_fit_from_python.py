"""Fit from Python: the best pipeline whose prediction takes at most 200 µs a row.

The estimator is a scikit-learn estimator; what it finds is a plain scikit-learn Pipeline that
needs nothing of automl-admm to predict.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.metrics import get_scorer
from sklearn.model_selection import train_test_split

from automl_admm import AutoMLClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

search = AutoMLClassifier(
    time_budget=60,  # seconds; whichever of the two ends first
    max_evaluations=8,
    constraints=["latency_us <= 200"],
    n_jobs=2,
    random_state=0,
)
search.fit(X_train, y_train)

# A scorer takes whatever the winner has: probabilities, or the scores of a support vector machine.
test_score = get_scorer("roc_auc")(search.best_pipeline_, X_test, y_test)
print("pipeline:  ", search.best_text_)
print("tried:     ", search.n_evaluations_)
print(f"validation: {search.best_score_:.4f}")
print(f"test:       {test_score:.4f}")
