"""Fit a pipeline, and lower its sizes to the rows and columns that arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.space import Array
from automl_admm.core.structure.pipeline_space import Branches, Item, Step, all_steps, occupied
from automl_admm.pipelines.empty_selection import fit_selector, is_selector
from automl_admm.pipelines.growing import GrowingFit
from automl_admm.pipelines.rare_classes import has_covariances, stop_validating
from automl_admm.pipelines.row_weighing import without_weighers
from automl_admm.pipelines.step_times import StepTimes
from automl_admm.pipelines.weighted_binning import quick_binning
from automl_admm.pipelines.weighting import fit_estimator
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.registry import Registry


def fit_pipeline(  # noqa: PLR0913 - what is fitted, on what, and two helpers
    pipeline: Any,
    steps: Sequence[Item],
    components: Registry[ComponentPlugin],
    X: Any,
    y: Any,
    weights: Array | None = None,
    times: StepTimes | None = None,
    *,
    growing: GrowingFit | None = None,
) -> Any:
    """Fit a copy of the pipeline step by step, and lower sizes above the bounds of the data.

    A selector with an empty selection keeps the best column, and a single column is not projected.
    If nothing is lowered, this is `Pipeline.fit`. The result is a plain fitted pipeline with the
    lowered values as its parameters: it can be cloned and fitted again. The last step is given the
    `weights` of the rows; the steps before it are fitted on the rows as they are. The `times` grow
    by the seconds of every step. With a fit that is `growing` the last step may go on from a
    smaller one.
    """
    from sklearn.base import clone
    from sklearn.pipeline import Pipeline

    lowering, times = _Lowering(components, y, weights, growing), times or StepTimes()
    fitted: list[tuple[str, Any]] = []
    arriving = X
    items = occupied(without_weighers(steps, components))
    for (name, component), item in zip(clone(pipeline).steps, items, strict=True):
        # Rows and columns are known only here: steps before may have changed both.
        with times.measuring(item), quick_binning():
            lowered = lowering.item(component, item, arriving, np.shape(arriving)[0])
            if len(fitted) < len(pipeline.steps) - 1:
                lowered, arriving = lowering.fit_transform(lowered, item, arriving)
            else:
                lowered = lowering.fit_last(lowered, arriving)
        fitted.append((name, lowered))
    return Pipeline(fitted)


@dataclass(frozen=True, slots=True)
class _Lowering:
    """Lowers the sizes of unfitted components to their input rows and columns."""

    components: Registry[ComponentPlugin]
    y: Any
    weights: Array | None = None
    growing: GrowingFit | None = None

    def item(self, component: Any, item: Item, arriving: Any, rows: int) -> Any:
        """Lower a component, or all in branches; return the object to fit."""
        if isinstance(item, Step):
            bounds = {"rows": rows, "columns": np.shape(arriving)[1]}
            return self.component(component, item, bounds)
        self.branches(component, item, arriving, rows)
        return component

    def component(self, component: Any, step: Step, bounds: dict[str, int]) -> Any:
        """Lower the bounded parameters of one component, never below one column."""
        from sklearn.preprocessing import FunctionTransformer

        capped = self.components.get(step.component).capped or {}
        # A projection of one column is that column, and some raise on it.
        is_projection = "columns" in capped.values() and hasattr(component, "transform")
        if bounds["columns"] == 1 and is_projection:
            return FunctionTransformer()
        for name, size in self._sizes(component, step).items():
            if size > (bound := max(bounds[capped[name]], 1)):
                component.set_params(**{name: bound})
        stop_validating(component, self.y)
        return component

    def _sizes(self, component: Any, item: Item) -> dict[str, int]:
        """Return the parameters of a component with bounds from the data."""
        if not isinstance(item, Step):
            return {}
        known = component.get_params(deep=False)
        names = self.components.get(item.component).capped or {}
        return {name: known[name] for name in names if isinstance(known.get(name), int)}

    def fit_last(self, component: Any, arriving: Any) -> Any:
        """Fit the estimator; return the fitted one, possibly a replacement."""
        if self.growing is not None:
            return self.growing.fit(component, arriving, self.y, self.weights)
        try:
            return fit_estimator(component, arriving, self.y, self.weights)
        except np.linalg.LinAlgError:
            if not has_covariances(component):
                raise
            known = component.get_params(deep=False)
        # Variances that are all 0 in a class are shrunk to 0: what is added to them is not.
        added = {"reg_param": known["shrinkage"], "shrinkage": None, "solver": "svd"}
        replaced = component.set_params(**added)
        return fit_estimator(replaced, arriving, self.y, self.weights)

    def fit_transform(self, component: Any, item: Item, arriving: Any) -> tuple[Any, Any]:
        """Fit a component, and return its output.

        Some bounds are unknown beforehand, such as the number of positive eigenvalues of a kernel
        matrix: then the size is halved until it fits.
        """
        if is_selector(component):
            selector = fit_selector(component, arriving, self.y)
            return selector, selector.transform(arriving)
        while True:
            try:
                return component, component.fit_transform(arriving, self.y)
            except ValueError:
                sizes = self._sizes(component, item)
                halved = {name: size // 2 for name, size in sizes.items() if size > 1}
                if not halved:
                    raise
                component.set_params(**halved)

    def branches(self, component: Any, item: Branches, arriving: Any, rows: int) -> None:
        """Lower the components in branches; a stacked piece is fitted on fewer rows, too."""
        parts = [part for part in map(occupied, item.parts) if part]
        if item.kind == "stack":
            _, predictions = component.transformer_list[-1]
            self.flow(predictions.estimator, parts[0], arriving, self._rows_of_a_fold(predictions))
        elif item.kind == "union":
            flows = (flow for _, flow in component.transformer_list)
            for flow, part in zip(flows, parts, strict=True):
                self.flow(flow, part, arriving, rows)
        else:
            self.by_type(component, item, arriving, rows)

    def by_type(self, component: Any, item: Branches, arriving: Any, rows: int) -> None:
        """Lower the flows of the number columns and of the category columns, by their places."""
        for (_, flow, columns), part in zip(component.transformers, item.parts, strict=True):
            if occupied(part) and len(columns):
                self.flow(flow, occupied(part), _columns(arriving, columns), rows)

    def flow(self, flow: Any, items: Sequence[Item], arriving: Any, rows: int) -> None:
        """Lower a flow; fit it only up to its last component with a bound by columns."""
        for place, ((name, component), item) in enumerate(zip(flow.steps, items, strict=True)):
            lowered = self.item(component, item, arriving, rows)
            if self._columns_count(items[place + 1 :], flow.steps[place + 1 :]):
                lowered, arriving = self.fit_transform(lowered, item, arriving)
            elif is_selector(lowered):
                lowered = fit_selector(lowered, arriving, self.y)
            flow.steps[place] = (name, lowered)

    def _columns_count(self, items: Sequence[Item], steps: Sequence[tuple[str, Any]]) -> bool:
        """Return True if a later component has a bound by its input columns."""
        capped = (self.components.get(step.component).capped or {} for step in all_steps(items))
        return any("columns" in axes.values() for axes in capped) or any(
            is_selector(part)
            for _, component in steps
            # A selector inside of branches is a parameter of the object around it.
            for part in (component, *component.get_params().values())
        )

    def _rows_of_a_fold(self, predictions: Any) -> int:
        from sklearn.base import is_classifier

        from automl_admm.pipelines.stacking import fold_count

        stratified = is_classifier(predictions.estimator)
        folds = fold_count(self.y, predictions.cv, stratified=stratified)
        # The largest fold leaves the fewest rows: what fits them fits all.
        return len(self.y) - -(-len(self.y) // folds)


def _columns(X: Any, columns: Sequence[Any]) -> Any:
    if not hasattr(X, "iloc"):
        return X[:, columns]
    return X.iloc[:, columns] if isinstance(columns[0], int) else X[columns]
