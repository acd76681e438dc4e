"""TPOT 1.x with its own search: the time, the metric, one core, the seed.

Its own preprocessing is switched on, because it takes neither gaps nor categories without. One
evaluation may take a quarter of the time: the default of ten minutes is made for hours.
"""

from __future__ import annotations

import pandas as pd
import tpot

from .exchange import Fitted, Task, best_so_far, serve

METRICS = {"auc": "roc_auc", "log_loss": "neg_log_loss", "r2": "r2"}
BEST_SCORE = {"auc": 1.0, "log_loss": 0.0, "r2": 1.0}
DONE = "Completed Timestamp"


def fit(task: Task, _variant: str) -> Fitted:
    """Fit within the time."""
    kind = tpot.TPOTRegressor if task.is_regression else tpot.TPOTClassifier
    categories = list(task.X.select_dtypes("category").columns)
    minutes = task.seconds / 60
    search = kind(
        scorers=[METRICS[task.metric]],
        scorers_weights=[1],
        categorical_features=categories or None,
        preprocessing=True,
        max_time_mins=minutes,
        max_eval_time_mins=min(10.0, minutes / 4),
        n_jobs=1,
        verbose=0,
        random_state=task.seed,
    )
    search.fit(task.X, task.y)
    tried = search.evaluated_individuals
    scores = pd.to_numeric(tried[search.objective_names[0]], errors="coerce")
    seconds = tried[DONE] - tried["Submitted Timestamp"].min()
    moments = zip(seconds.astype(float), BEST_SCORE[task.metric] - scores)  # noqa: B905
    return Fitted(
        predict=search.predict if task.is_regression else search.predict_proba,
        classes=[] if task.is_regression else [str(one) for one in search.classes_],
        evaluations=len(tried),
        anytime=best_so_far(list(moments)),
    )


if __name__ == "__main__":
    serve(fit, ["tpot", "scikit-learn", "xgboost", "lightgbm", "pandas", "numpy"])
