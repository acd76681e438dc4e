"""Fitting a pipeline whose sizes are lowered to what arrives at them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.plugin_types import ComponentPlugin
from automl_admm.registry import Registry
from automl_admm.shape import Branches, Item, Step, all_steps, occupied


def fit_pipeline(
    pipeline: Any, steps: Sequence[Item], components: Registry[ComponentPlugin], X: Any, y: Any
) -> Any:
    """Fit a copy of the pipeline step by step, and lower what the data bound on the way.

    Where nothing is lowered this is `Pipeline.fit`. What comes out is a plain fitted pipeline,
    with the lowered values as its parameters: it can be cloned and fitted again.
    """
    from sklearn.base import clone
    from sklearn.pipeline import Pipeline

    lowering = _Lowering(components, y)
    fitted: list[tuple[str, Any]] = []
    arriving = X
    for (name, component), item in zip(clone(pipeline).steps, occupied(steps), strict=True):
        lowering.item(component, item, arriving, _rows(arriving))
        if len(fitted) < len(pipeline.steps) - 1:
            arriving = component.fit_transform(arriving, y)
        else:
            component.fit(arriving, y)
        fitted.append((name, component))
    return Pipeline(fitted)


def _rows(X: Any) -> int:
    return int(np.shape(X)[0])


@dataclass(frozen=True, slots=True)
class _Lowering:
    """Lowers the sizes of unfitted components to the rows and columns that arrive at them."""

    components: Registry[ComponentPlugin]
    y: Any

    def item(self, component: Any, item: Item, arriving: Any, rows: int) -> None:
        """Lower a component, or all that stand in branches."""
        if isinstance(item, Step):
            self.component(component, item, {"rows": rows, "columns": np.shape(arriving)[1]})
        else:
            self.branches(component, item, arriving, rows)

    def component(self, component: Any, step: Step, bounds: dict[str, int]) -> None:
        """Lower what the data bound of one component."""
        known = component.get_params(deep=False)
        for name, axis in (self.components.get(step.component).capped or {}).items():
            value, bound = known.get(name), max(bounds[axis], 1)
            if isinstance(value, int) and value > bound:
                component.set_params(**{name: bound})

    def branches(self, component: Any, item: Branches, arriving: Any, rows: int) -> None:
        """Lower what stands in branches; a stacked piece is fitted on fewer rows, too."""
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
        """Lower a flow; it is fitted up to its last component that columns bound, and no more."""
        for place, ((_, component), item) in enumerate(zip(flow.steps, items, strict=True)):
            self.item(component, item, arriving, rows)
            if self._columns_count(items[place + 1 :]):
                arriving = component.fit_transform(arriving, self.y)

    def _columns_count(self, items: Sequence[Item]) -> bool:
        capped = (self.components.get(step.component).capped or {} for step in all_steps(items))
        return any("columns" in axes.values() for axes in capped)

    def _rows_of_a_fold(self, predictions: Any) -> int:
        from sklearn.base import is_classifier

        from automl_admm.evaluation.stacking import fold_count

        stratified = is_classifier(predictions.estimator)
        folds = fold_count(self.y, predictions.cv, stratified=stratified)
        return len(self.y) - -(-len(self.y) // folds)


def _columns(X: Any, columns: Sequence[Any]) -> Any:
    if not hasattr(X, "iloc"):
        return X[:, columns]
    return X.iloc[:, columns] if isinstance(columns[0], int) else X[columns]
