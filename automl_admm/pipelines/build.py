"""From the steps of a candidate to a plain scikit-learn pipeline, unfitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from automl_admm.core.errors import ConfigurationError, PluginError
from automl_admm.core.space import Value
from automl_admm.core.structure.pipeline_space import Branches, Item, Step, occupied
from automl_admm.pipelines.fitting import fit_pipeline
from automl_admm.pipelines.row_weighing import without_weighers
from automl_admm.plugins.factories import make
from automl_admm.plugins.records import BuildContext, ComponentPlugin
from automl_admm.plugins.registry import Registry

__all__ = ["build_pipeline", "fit_pipeline", "predict_scores"]

SEEDS = 2**32  # scikit-learn takes no larger seed


def build_pipeline(
    steps: Sequence[Item], components: Registry[ComponentPlugin], context: BuildContext, seed: int
) -> Any:
    """Build the unfitted pipeline: seeded, on one core, its steps named after their components.

    A missing parameter takes the component's default. Only the first steps are told the kinds of
    columns: later ones cannot know the output of the steps before them. Branches without a
    component are no step, and weighers of rows are none: data pass them unchanged.
    """
    kept = occupied(without_weighers(steps, components))
    if not kept:
        raise ConfigurationError("a pipeline needs at least one step.")
    return _Building(components, seed % SEEDS).flow(kept, context)


@dataclass(frozen=True, slots=True)
class _Building:
    """Makes scikit-learn objects of items, all with one seed."""

    components: Registry[ComponentPlugin]
    seed: int

    def flow(self, items: Sequence[Item], context: BuildContext) -> Any:
        """A `Pipeline` of items one after another."""
        from sklearn.pipeline import Pipeline

        built, arriving = [], context
        for name, item in zip(_step_names(items), items, strict=True):
            built.append((name, self.item(item, arriving)))
            # The first step may have encoded, dropped or added columns.
            arriving = BuildContext(context.task, classes=context.classes)
        return Pipeline(built)

    def item(self, item: Item, context: BuildContext) -> Any:
        """One component, or branches side by side."""
        if isinstance(item, Step):
            return self.step(item, context)
        if item.kind == "by_type":
            return self.by_type(item, context)
        flows = [self.flow(part, context) for part in map(occupied, item.parts) if part]
        return self.stack(flows[0]) if item.kind == "stack" else self.union(flows)

    def step(self, step: Step, context: BuildContext) -> Any:
        """Make one component; name its plugin if that fails."""
        plugin, title = self.components.get(step.component), self.components.title(step.component)
        try:
            return make(title, self.component, plugin, plugin.defaults | dict(step.values), context)
        except PluginError:
            raise
        except ConfigurationError as problem:  # raised by the plugin: it does not say whose it is
            raise PluginError(f"{title} cannot be made: {problem}") from problem

    def component(
        self, plugin: ComponentPlugin, values: Mapping[str, Value], context: BuildContext
    ) -> Any:
        """Make a plugin's component with these values, seeded and on one core."""
        component = plugin.factory(values, context)
        _settle(component, self.seed)
        return component

    def union(self, flows: Sequence[Any]) -> Any:
        """A `FeatureUnion`: a branch without a component adds no columns."""
        from sklearn.pipeline import FeatureUnion

        return FeatureUnion([(f"branch_{i}", flow) for i, flow in enumerate(flows, start=1)])

    def stack(self, flow: Any) -> Any:
        """Put the predictions of an inner pipeline beside its input columns."""
        from sklearn.pipeline import FeatureUnion

        from automl_admm.pipelines.stacking import StackedPredictions

        predictions = StackedPredictions(flow, random_state=self.seed)
        return FeatureUnion([("features", "passthrough"), ("predictions", predictions)])

    def by_type(self, item: Branches, context: BuildContext) -> Any:
        """A `ColumnTransformer`: the columns of a part without a component pass unchanged.

        Free text and tags go with the categories.
        """
        from sklearn.compose import ColumnTransformer

        others = (*context.categorical, *context.text, *context.tags)
        kinds = {
            "numeric": (
                context.numeric,
                BuildContext(context.task, context.numeric, classes=context.classes),
            ),
            "categorical": (others, replace(context, numeric=())),
        }
        routes = []
        for (name, (columns, known)), part in zip(
            kinds.items(), map(occupied, item.parts), strict=True
        ):
            flow = self.flow(part, _inside(known)) if part else "passthrough"
            routes.append((name, flow, list(columns)))
        # Dense, whatever a part gives: not every later step takes sparse rows.
        return ColumnTransformer(routes, sparse_threshold=0)


def _inside(context: BuildContext) -> BuildContext:
    """Return the columns as numbered inside a branch: places are counted anew, names stay."""
    places = count()

    def renumbered(columns: Sequence[Any]) -> tuple[Any, ...]:
        numbered = [(next(places), column) for column in columns]
        return tuple(place if isinstance(column, int) else column for place, column in numbered)

    return replace(
        context,
        numeric=renumbered(context.numeric),
        categorical=renumbered(context.categorical),
        text=renumbered(context.text),
        tags=renumbered(context.tags),
    )


def _step_names(items: Iterable[Item]) -> list[str]:
    names: list[str] = []
    for item in items:
        plain = item.component if isinstance(item, Step) else item.kind
        name, count = plain, 1
        while name in names:
            count += 1
            name = f"{plain}_{count}"
        names.append(name)
    return names


def _settle(component: Any, seed: int) -> None:
    """Seed every random part, and keep to one core.

    For scikit-learn's own classes `n_jobs=None` means one core, and some warn if it is set.
    """
    ours = type(component).__module__.startswith("sklearn.")
    known = component.get_params()
    # By the end of the name: a step in a step has its own, as `estimator__random_state`.
    seeds = {
        name: seed
        for name, value in known.items()
        # scikit-learn marks parameters so that warn if they are set.
        if name.endswith("random_state") and value != "deprecated"
    }
    cores = {
        name: 1
        for name, value in known.items()
        if name.endswith("n_jobs") and not (ours and value is None)
    }
    component.set_params(**seeds, **cores)


def predict_scores(pipeline: Any, X: Any) -> Any:
    """Predict probabilities if the model has them, else scores, else the values."""
    for method in ("predict_proba", "decision_function"):
        if hasattr(pipeline, method):
            return getattr(pipeline, method)(X)
    return pipeline.predict(X)
