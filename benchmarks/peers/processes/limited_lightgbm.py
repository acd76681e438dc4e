"""The tuned LightGBM; of its settings the best one within the limit on its folds is fitted."""

from __future__ import annotations

import time

from .exchange import Fitted, Task, serve
from .filtering import Judged, Shipping, decider, fit_chosen, judge
from .lightgbm import Draw, draw_all, model_of, predict_of
from .measuring import bytes_of, microseconds_a_row

CALLS = 5


def fit(task: Task, _variant: str) -> Fitted:
    """Draw settings, judge each by its held-out predictions, fit the chosen one on all rows."""
    draws, _ = draw_all(task, time.monotonic())
    judged = [_judge(task, one) for one in draws]

    def fit_again(place: int) -> Shipping:
        model = model_of(task, draws[place].parameters, draws[place].trees).fit(task.X, task.y)
        return Shipping(model, predict_of(task, model), model)

    best, found = fit_chosen(task, judged, fit_again)
    return Fitted(
        predict=found.predict,
        classes=[] if task.is_regression else [str(one) for one in found.model.classes_],
        evaluations=len(draws),
        note=f"validation {judged[best]}, {draws[best].trees} trees",
        decide=decider(task, found.predict, judged[best].threshold),
        shipped=found.model,
    )


def _judge(task: Task, draw: Draw) -> Judged:
    model = draw.model

    def cost() -> float:
        if task.limit.name == "size":
            return bytes_of(model) / 1e6
        return microseconds_a_row(predict_of(task, model), task.X, CALLS)

    return judge(task, task.X, task.y, draw.held_out, cost)


if __name__ == "__main__":
    serve(fit, ["lightgbm", "scikit-learn", "pandas", "numpy"])
