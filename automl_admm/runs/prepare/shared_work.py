"""The work shared by all evaluations of a run: its rows, their splits, and what to measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from automl_admm.constraints.expected_evidence import imagine
from automl_admm.constraints.feature_groups import decide_by_groups
from automl_admm.constraints.fitted_groups import hangs_on_rows, meet_fitted, strata_of
from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.space import Candidate
from automl_admm.data.filled_cells import filled_columns
from automl_admm.data.ingest.applying import TakenIn, blanks_of
from automl_admm.data.splits import hold_out, make_splits
from automl_admm.data.spreads import spreads_of
from automl_admm.grammar import CompiledGrammar
from automl_admm.pipelines.metrics import Metric, resolve_metric
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.predictions.table_part import TablePart
from automl_admm.pipelines.thresholds.by_group import GroupRule
from automl_admm.pipelines.thresholds.cost import Cost
from automl_admm.pipelines.thresholds.cost_text import read_costs
from automl_admm.pipelines.work import PipelineWork
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.plugins.records import (
    BuildContext,
    ComponentPlugin,
    Constraint,
    LearningTask,
)
from automl_admm.plugins.registry import Registry
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import SearchPlan
from automl_admm.runs.prepare.ingesting import check_deciding, origins_of
from automl_admm.runs.prepare.searched_rows import decide_searched, thin
from automl_admm.runs.prepare.set_aside import CALLS, Aside, alike_rows, tested_rows, trial_rows
from automl_admm.runs.saved_request import kept_cv


@dataclass(frozen=True)
class Known:
    """Everything known of a run before its rows are parted.

    `whole` has all rows, and `sensitive` names the columns for limits alone.
    """

    config: RunConfig
    plugins: Plugins
    plan: SearchPlan
    constraints: tuple[Constraint, ...]
    context: BuildContext
    grammar: CompiledGrammar
    starts: tuple[Candidate, ...]
    taken: TakenIn
    whole: Table
    aside: Aside | None
    sensitive: tuple[str, ...]

    @property
    def task(self) -> LearningTask:
        """Classification or regression."""
        return self.context.task

    @property
    def classes(self) -> int:
        """The number of classes; 0 for a quantity."""
        return 0 if self.whole.classes is None else len(self.whole.classes)


@dataclass(frozen=True)
class SharedWork:
    """The work of a run, the places of rows kept from it, and the settings with its rows.

    `aside` is the plan of its certificate, with the groups that the rows of the search make.
    """

    config: RunConfig
    work: PipelineWork
    set_aside: Any
    aside: Aside | None


@dataclass(frozen=True)
class ComponentLoader:
    """Give the components of a task: those loaded in this process; any other loads its own."""

    task: LearningTask
    extra: Mapping[str, object]
    here: Registry[ComponentPlugin] | None = None

    def __call__(self) -> Registry[ComponentPlugin]:
        """Return the components."""
        if self.here is not None:
            return self.here
        return load_plugins(self.extra, quietly=True).components[self.task]

    def __reduce__(self) -> tuple[object, ...]:
        """Leave the loaded ones behind: plugins hold modules and closures."""
        return type(self), (self.task, self.extra)


def share_work(known: Known) -> SharedWork:
    """Part the rows, and return the work on those of the search."""
    searched, set_aside = _parted(known)
    known = _with_groups_of(known, searched)
    rows = TablePart(known.whole, searched)
    config = decide_searched(known.config, rows)
    metric = resolve_metric(config.scoring, known.task, known.classes, known.plugins.metrics)
    work = replace(
        _work(replace(known, config=config), metric.knowing(known.whole.classes), rows),
        held_out=TablePart(known.whole, set_aside) if len(set_aside) else None,
        origins=origins_of(known.taken.ingest),
        spreads=_spreads_of(known, rows),
        blanks=blanks_of(known.taken.ingest) or None,
        filled=_filled_of(known, rows),
        rule=_rule_of(known),
        calls=0 if known.aside is None else CALLS,
        tested=_tested(known, set_aside),
        certifies=known.aside is not None,
        cost=_cost_of(known),
    )
    return SharedWork(config, work, set_aside, known.aside)


def _with_groups_of(known: Known, searched: Any) -> Known:
    """Fit the groups that hang on rows to those of the search; no other row has a say in them."""
    if not any(map(hangs_on_rows, known.constraints)):
        return known
    whole, sensitive = known.whole, known.whole.sensitive
    rows = sensitive.iloc[searched]
    found = tuple(meet_fitted(one, rows, sensitive) for one in known.constraints)
    aside = known.aside
    if aside is not None:
        alike = alike_rows(whole, known.config.random_state)
        aside = replace(aside, examples=imagine(found, trial_rows(alike)))
    return replace(known, constraints=found, aside=aside)


def _rule_of(known: Known) -> GroupRule | None:
    """Return the groups with thresholds of their own, if the user asks for them."""
    if not known.config.group_thresholds:
        return None
    rule = decide_by_groups(known.constraints, known.sensitive, known.classes)
    check_deciding(known.taken.ingest, rule.columns)
    return rule


def _spreads_of(known: Known, rows: Table) -> Mapping[str, float] | None:
    """Return the spreads of the columns of numbers, if a limit asks the model about changed rows.

    Those made of a date have none: noise in one of them would be no date.
    """
    if not any(one.asks_model for one in known.constraints):
        return None
    dates = known.taken.ingest.dates
    return {name: one for name, one in spreads_of(rows.X).items() if name not in dates}


def _filled_of(known: Known, rows: Table) -> tuple[str, ...] | None:
    """Return the columns with a value in the rows of the search, if a limit may make them blank."""
    if not any(one.asks_model for one in known.constraints):
        return None
    ingest = known.taken.ingest
    return filled_columns(rows.X, origins_of(ingest), blanks_of(ingest))


def _cost_of(known: Known) -> Cost | None:
    """Return the cost of decisions, if the user gives one; raise if it is not of these classes."""
    if known.config.cost is None:
        return None
    if known.whole.classes is None:
        raise ConfigurationError(
            "a cost of decisions needs a target of classes, and this one is a quantity.",
            hint=Remedy("Leave out {cost}."),
        )
    return read_costs(known.config.cost).of(known.whole.classes)


def _tested(known: Known, set_aside: Any) -> Any:
    if known.aside is None:
        return None
    return tested_rows(known.whole, set_aside, known.config.random_state)


def _work(known: Known, metric: Metric, table: Table) -> PipelineWork:
    """Return the work on the rows of the search, and their splits."""
    config, constraints = known.config, known.constraints
    groups = [one.groups(table.sensitive) for one in constraints if one.groups is not None]
    in_limits = any(one.kind == "statistical" for one in constraints)
    given = table.y, known.task, kept_cv(config), config.random_state, groups, table.roles
    splits = make_splits(*given, in_limits=in_limits)
    return PipelineWork(
        space=known.grammar.pipelines,
        table=table,
        splits=thin(splits, table, config),
        metric=metric,
        context=replace(known.context, classes=known.classes),
        load_components=ComponentLoader(
            known.task, config.extra_plugins, known.plugins.components[known.task]
        ),
        constraints=constraints,
        persist=config.work_dir is not None,
    )


def _parted(known: Known) -> tuple[Any, Any]:
    """Return the places of searched and held-out rows: both have their share of each group."""
    import numpy as np

    config, whole, aside = known.config, known.whole, known.aside
    fraction = config.test_size if aside is None else aside.fraction
    if fraction == 0.0:
        return np.arange(len(whole.y)), np.arange(0)
    return hold_out(
        whole.y,
        known.task,
        fraction,
        config.random_state,
        [by(whole.sensitive) for one in known.constraints if (by := strata_of(one)) is not None],
        whole.roles,
        at_random=config.certify is not None,
    )
