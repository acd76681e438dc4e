"""Fit the estimator of a pipeline by going on from a smaller fit of the same rows and settings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.core.space import Array
from automl_admm.core.structure.pipeline_space import Item, Step
from automl_admm.execution.task_folders import SHARED
from automl_admm.pipelines.kept_fits import KeptFit, KeptFits, kept_fits
from automl_admm.pipelines.weighting import fit_estimator
from automl_admm.plugins.growth import Growth
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.registry import Registry

WARM = "warm_start"


@dataclass
class GrowingFit:
    """A fit of the last step that begins with a kept one, and may be kept in its turn.

    A kept fit is found by all that it depends on: the class, every parameter but the size `name`,
    the rows as they arrive, the target and the weights. So another fold, table or setting never
    finds it. A `grown` fit has gone on from others, which took the `earlier_seconds`.
    """

    growth: Growth
    name: str
    kept: KeptFits
    scratch: Path
    keeps: bool
    earlier_seconds: float = 0.0
    grown: bool = False

    def fit(self, component: Any, X: Any, y: Any, weights: Array | None) -> Any:
        """Return the fitted component; the model is that of a fit from the start."""
        from sklearn.pipeline import Pipeline

        if not isinstance(component, Pipeline):
            return self._fit_model(component, X, y, weights)
        if weights is not None:  # its rows are drawn before its first step
            return fit_estimator(component, X, y, weights)
        arriving = component[:-1].fit_transform(X, y)
        last, model = component.steps[-1]
        component.steps[-1] = (last, self._fit_model(model, arriving, y, None))
        return component

    def _fit_model(self, model: Any, X: Any, y: Any, weights: Array | None) -> Any:
        settings = model.get_params()
        if not {self.name, WARM} <= set(settings) or settings[WARM]:
            return fit_estimator(model, X, y, weights)
        size = settings.pop(self.name)
        key = _key(type(model), settings, X, y, weights)
        begun, before = time.perf_counter(), self.earlier_seconds
        fitted = self._gone_on(key, size, X, y, weights)
        if fitted is None:
            fitted = fit_estimator(model, X, y, weights)
        seconds = self.earlier_seconds - before + time.perf_counter() - begun
        self._keep(key, KeptFit(size, seconds, fitted))
        return fitted

    def _gone_on(self, key: str, size: int, X: Any, y: Any, weights: Array | None) -> Any:
        """Return the model grown from a kept fit; None if there is none, or if it cannot go on."""
        found = self.kept.find(key, size)
        if found is None:
            return None
        # A fit that cannot go on is no fault of the evaluation: it begins anew.
        with suppress(Exception):
            grown = self._grown(found.model, size, X, y, weights)
            self.grown = True
            self.earlier_seconds += found.seconds
            return grown
        return None

    def _grown(self, fitted: Any, size: int, X: Any, y: Any, weights: Array | None) -> Any:
        if not self.growth.has_stopped(fitted):
            fitted.set_params(**{self.name: size, WARM: True})
            fitted = fit_estimator(fitted, X, y, weights)
        return fitted.set_params(**{self.name: size, WARM: False})

    def _keep(self, key: str, fit: KeptFit) -> None:
        """Keep a fit that others may go on from; after a whole one none is needed."""
        if not self.keeps:
            self.kept.drop(key, below=fit.size)
            return
        with suppress(Exception):  # a growth that raises has nothing to go on from
            if self.growth.can_be_kept(fit.model):
                self.kept.keep(key, fit, self.scratch)


def growing_fit(
    steps: Sequence[Item], components: Registry[ComponentPlugin], fidelity: float, folder: Path
) -> GrowingFit | None:
    """Return the fit of an evaluation with this folder; None if its estimator cannot grow.

    The executor has a place to keep fits in beside the folder. As long as nothing is evaluated at a
    low fidelity the place is empty, and a whole evaluation is as it always was.
    """
    last = steps[-1] if steps else None
    if not isinstance(last, Step) or last.component not in components:
        return None
    record, place = components.get(last.component), folder.parent / SHARED
    if record.growth is None or not place.is_dir():
        return None
    kept, keeps = kept_fits(place), fidelity < 1.0
    if not keeps and kept.is_empty():
        return None
    return GrowingFit(record.growth, record.fidelity, kept, folder, keeps)


def seconds_since(begun: float, growing: GrowingFit | None) -> float:
    """Return the seconds of a fit, with those of the fits that it went on from."""
    earlier = 0.0 if growing is None else growing.earlier_seconds
    return time.perf_counter() - begun + earlier


def _key(model: type, settings: dict[str, Any], X: Any, y: Any, weights: Any) -> str:
    import joblib

    name = f"{model.__module__}.{model.__qualname__}"
    return str(joblib.hash((name, sorted(settings.items()), X, y, weights)))
