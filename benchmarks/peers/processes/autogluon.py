"""AutoGluon Tabular with a preset: `medium_quality` is its default."""

from __future__ import annotations

from typing import Any

from autogluon.tabular import TabularPredictor

from .exchange import Fitted, Task, best_so_far, serve

METRICS = {"auc": "roc_auc", "log_loss": "log_loss", "r2": "r2"}
# What AutoGluon calls a score is larger if better: the loss is the best possible score less it.
BEST_SCORE = {"auc": 1.0, "log_loss": 0.0, "r2": 1.0}
LABEL = "automl target"


def fit(task: Task, variant: str) -> Fitted:
    """Fit with the preset; the models stay in memory for predictions, as AutoGluon advises."""
    predictor = TabularPredictor(
        LABEL,
        problem_type=task.kind,
        eval_metric=METRICS[task.metric],
        path=str(task.folder / "models"),
        verbosity=1,
    )
    train = task.X.assign(**{LABEL: task.y.to_numpy()})
    predictor.fit(train, presets=variant, time_limit=task.seconds, num_cpus=1, num_gpus=0)
    board = predictor.leaderboard()
    predictor.persist()
    return Fitted(
        predict=predictor.predict if task.is_regression else predictor.predict_proba,
        classes=[] if task.is_regression else [str(one) for one in predictor.class_labels],
        evaluations=len(board),
        anytime=_incumbents(board, BEST_SCORE[task.metric]),
        note=f"best model {predictor.model_best}",
    )


def _incumbents(board: Any, best_score: float) -> list[tuple[float, float]]:
    """Return when each model was ready, by the sum of the fit times up to it, and its loss."""
    ordered = board.sort_values("fit_order")
    ready = ordered["fit_time_marginal"].cumsum()
    return best_so_far(list(zip(ready, best_score - ordered["score_val"])))  # noqa: B905


if __name__ == "__main__":
    serve(fit, ["autogluon.tabular", "lightgbm", "xgboost-cpu", "catboost", "scikit-learn"])
