"""Check and make ready everything before a run over pipelines touches the disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from automl_admm.certify.walk.looks import check_ledger, risk_of_look
from automl_admm.constraints.dry_run import TrialRows, columns_of, meet_data, try_on
from automl_admm.constraints.expected_evidence import imagine, imagine_one_class
from automl_admm.constraints.feature_groups import decide_by_groups
from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.data.columns import check_target, infer_task
from automl_admm.data.independent_rows import largest_total
from automl_admm.data.ingest.leaks import find_leaks
from automl_admm.data.ingest.records import Ingest
from automl_admm.data.row_roles import NO_COLUMNS, RoleColumns, counted_rows
from automl_admm.data.sensitive import known_columns
from automl_admm.data.split_choice import first_deal, say_splits
from automl_admm.data.splits import hold_out, make_splits
from automl_admm.data.table_schema import Schema
from automl_admm.grammar import CompiledGrammar, load_grammar
from automl_admm.pipelines.labels import number_classes
from automl_admm.pipelines.metrics import Metric, resolve_metric
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.work import PipelineWork
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.plugins.records import (
    TASKS,
    BuildContext,
    CheapFunction,
    ComponentPlugin,
    Constraint,
    LearningTask,
)
from automl_admm.plugins.registry import Registry
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import (
    SearchPlan,
    check_executor,
    plan_search,
    resolve_constraints,
)
from automl_admm.runs.prepare.ingesting import (
    check_deciding,
    context_of,
    ingest_table,
    name_of,
    origins_of,
    schema_of_table,
)
from automl_admm.runs.prepare.scoring_trial import check_scoring
from automl_admm.runs.prepare.searched_rows import decide_searched, thin
from automl_admm.runs.prepare.set_aside import (
    CALLS,
    Aside,
    Question,
    aim,
    alike_rows,
    default_ledger,
    find_out_of_reach,
    plan_aside,
    tested_rows,
)
from automl_admm.runs.prepare.starts import read_quick, read_starts
from automl_admm.runs.prepare.suggestions import check_parts
from automl_admm.runs.prepare.untrusted_types import tell_untrusted
from automl_admm.runs.provenance import fingerprint, fingerprint_data, run_of
from automl_admm.runs.saved_request import kept_cv, way_of
from automl_admm.search.protocol import SearchProblem, default_start


@dataclass(frozen=True)
class Preparation:
    """Everything checked before a run touches the disk.

    The search is given `aims`: the limits, or tighter ones if they are to be certified on the
    rows `set_aside`, a part of the data's `rows`. `target`, `sensitive` and, by their role,
    `columns` are the names of columns, if they have any; `schema` describes all columns of the
    user, `ingest` says what pipelines see of them, and `leaks` names those that tell the target.
    """

    config: RunConfig
    plugins: Plugins
    grammar: CompiledGrammar
    starts: tuple[Candidate, ...]
    constraints: tuple[Constraint, ...]
    plan: SearchPlan
    work: PipelineWork
    aims: tuple[Limit, ...]
    rows: int
    largest: float
    set_aside: Any
    schema: Schema
    ingest: Ingest
    leaks: tuple[str, ...]
    target: str | None = None
    sensitive: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    aside: Aside | None = None
    question: Question | None = None
    caution: str | None = None

    @property
    def task(self) -> LearningTask:
        """Classification or regression."""
        return self.work.context.task

    @property
    def split(self) -> str:
        """The way to validate, in a line."""
        table = self.work.table
        return say_splits(self.work.splits, self.config.cv, table.roles, len(table.y))

    @property
    def metric(self) -> Metric:
        """The metric of the loss."""
        return self.work.metric

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits of the user; the search is given the `aims`."""
        return tuple(constraint.limit for constraint in self.constraints)

    @property
    def problem(self) -> SearchProblem:
        """The pipelines to search, as solvers and the driver see them."""
        pipelines, config = self.grammar.pipelines, self.config
        cheap = {c.limit.name: c.cheap for c in self.constraints if c.cheap is not None}
        return SearchProblem(
            pipelines.space,
            pipelines.key,
            starts=self.starts or (default_start(pipelines.space),),
            quick=self._quick,
            limits=self.aims,
            cheap={name: partial(_measure_steps, pipelines, cheap[name]) for name in cheap},
            lowest_fidelity=config.least_fidelity,
            seed=config.random_state,
            evaluations=config.max_evaluations,
            text=pipelines.text,
        )

    @property
    def _quick(self) -> tuple[Candidate, ...]:
        """A pipeline to begin a timed search with, unless the user says where it begins."""
        name, grammars = str(self.config.grammar), self.plugins.grammars
        if self.starts or self.config.seconds is None or name not in grammars:
            return ()
        return read_quick(grammars.get(name).quick, self.grammar.pipelines)


def _measure_steps(
    pipelines: PipelineSpace, function: CheapFunction, candidate: Candidate
) -> float:
    return float(function(pipelines.steps(candidate)))


def prepare(
    config: RunConfig,
    X: Any,
    y: Any,
    sensitive: Any = None,
    columns: RoleColumns = NO_COLUMNS,
) -> Preparation:
    """Check everything given by the user; nothing has been written yet when this raises.

    `sensitive` is a frame of columns for limits alone, `columns` have weights, groups or times: no
    pipeline sees them. Rows with a weight of 0 are left out.
    """
    X, y, sensitive, columns = counted_rows(X, y, sensitive, columns)
    roles = columns.read()
    plugins = load_plugins(config.extra_plugins)
    check_parts(config, plugins)
    plan = plan_search(config, plugins)
    check_executor(config, plugins)
    constraints = resolve_constraints(config, plugins)
    task = config.task or infer_task(y)
    check_target(y, task)
    taken = ingest_table(config, X)
    context = context_of(task, taken)
    grammar = _grammar(config, context, plugins)
    starts = read_starts(config.starts, grammar.pipelines)
    apart_or_named = known_columns(sensitive, taken.for_limits(), columns_of(constraints))
    whole = _whole(taken.made, y, task, apart_or_named, config.positive)
    whole = replace(whole, roles=roles)
    constraints = meet_data(constraints, trial_rows(whole))
    aside = _plan_aside(constraints, whole, config)
    fraction = config.test_size if aside is None else aside.fraction
    searched, set_aside = _parted(whole, task, constraints, fraction, config)
    classes = 0 if whole.classes is None else len(whole.classes)
    metric = resolve_metric(config.scoring, task, classes, plugins.metrics).knowing(whole.classes)
    held_out = whole.part(set_aside) if len(set_aside) else None
    apart = () if sensitive is None else tuple(map(str, sensitive.columns))
    rule = None
    if config.group_thresholds:
        rule = decide_by_groups(constraints, apart, classes)
        check_deciding(taken.ingest, rule.columns)
    rows = whole.part(searched)
    config = decide_searched(config, rows)
    work = replace(
        _work(config, replace(context, classes=classes), grammar, metric, constraints, rows),
        held_out=held_out,
        origins=origins_of(taken.ingest),
        rule=rule,
        calls=0 if aside is None else CALLS,
        tested=None if aside is None else tested_rows(whole, set_aside, config.random_state),
    )
    caution = check_scoring(work)
    deal = first_deal(work.splits, config.cv)
    try_on(constraints, [trial_rows(work.table.part(valid)) for _, valid in deal])
    asked = [grammar.text, *map(grammar.pipelines.text, starts)]
    question = None if aside is None else _question(config, work, whole, asked)
    aims = _aims(constraints, aside, question)
    if config.work_dir is not None:
        tell_untrusted(plugins.components[task], grammar, task, config.time_budget)
    return Preparation(
        config=config,
        plugins=plugins,
        grammar=grammar,
        starts=starts,
        constraints=constraints,
        plan=plan,
        work=replace(work, aims=aims),
        aims=aims,
        rows=len(whole.y),
        largest=largest_total(roles),
        set_aside=set_aside,
        schema=schema_of_table(taken, y, sensitive, columns.frame()),
        ingest=taken.ingest,
        leaks=find_leaks(taken.raw, y, taken.ingest.left_out),
        target=name_of(y),
        sensitive=apart,
        columns=columns.names(),
        aside=aside,
        question=question,
        caution=caution,
    )


def _grammar(config: RunConfig, context: BuildContext, plugins: Plugins) -> CompiledGrammar:
    """Load the grammar, without components for another task or other kinds of columns."""
    components = plugins.components[context.task]
    everywhere = {record.name for each in TASKS for record in plugins.components[each]}
    elsewhere = frozenset(everywhere - {record.name for record in components})
    return load_grammar(
        config.grammar,
        components,
        plugins.grammars,
        elsewhere,
        config.max_depth,
        context.kinds,
    )


def _work(
    config: RunConfig,
    context: BuildContext,
    grammar: CompiledGrammar,
    metric: Metric,
    constraints: tuple[Constraint, ...],
    table: Table,
) -> PipelineWork:
    """Return the work shared by all evaluations: the rows of the search, and their splits."""
    groups, seed = _groups_of(constraints, table), config.random_state
    cv = kept_cv(config)
    splits = make_splits(table.y, context.task, cv, seed, groups, table.roles)
    return PipelineWork(
        space=grammar.pipelines,
        table=table,
        splits=thin(splits, table, config),
        metric=metric,
        context=context,
        load_components=partial(_load_components, context.task, config.extra_plugins),
        constraints=constraints,
        persist=config.work_dir is not None,
    )


def aim_again(prepared: Preparation, constraints: tuple[Constraint, ...]) -> Preparation:
    """Return the same preparation with other numbers in its limits."""
    aims = _aims(constraints, prepared.aside, prepared.question)
    return replace(prepared, constraints=constraints, aims=aims)


def _aims(
    constraints: tuple[Constraint, ...], aside: Aside | None, question: Question | None
) -> tuple[Limit, ...]:
    if aside is None or question is None:
        return tuple(constraint.limit for constraint in constraints)
    return aim(constraints, aside, risk_of_look(question.next_look, aside.risk))


def _plan_aside(
    constraints: tuple[Constraint, ...], whole: Table, config: RunConfig
) -> Aside | None:
    if config.certify is None:
        return None
    rows = trial_rows(alike_rows(whole, config.random_state))
    examples = imagine(constraints, rows)
    aside = plan_aside(constraints, examples, config.certify, config.certify_fraction)
    if config.on_infeasible != "raise":
        return aside
    more = partial(imagine_one_class, rows=rows)
    beyond = find_out_of_reach(constraints, aside, config.certify_fraction, more)
    reasons = (*aside.impossible, *([] if beyond is None else [beyond]))
    if reasons:
        raise ConfigurationError(
            f"there can be no certificate: {reasons[0]}",
            hint=Remedy("Leave out the limit or {certify}: rows would be set aside for nothing."),
        )
    return aside


def _question(
    config: RunConfig, work: PipelineWork, whole: Table, asked: Sequence[str]
) -> Question:
    """Return the rows set aside, and the identity of the run asking about them.

    `asked` are texts of the grammar and the starts: the search depends on them, too.
    """
    assert work.held_out is not None  # noqa: S101 - a share of the rows was set aside
    rows, data = fingerprint(work.held_out), fingerprint_data(whole)
    run = run_of(fingerprint(work.table), config.random_state)
    is_timed = any(constraint.kind == "measured" for constraint in work.constraints)
    way = "" if is_timed else way_of(config, data, rows, run, *asked)
    ledger = config.looks or default_ledger()
    check_ledger(ledger)
    tested = None if work.tested is None else len(work.tested)
    return Question(rows, len(work.held_out.y), ledger, run, data, way, tested)


def _load_components(task: LearningTask, extra: Mapping[str, object]) -> Registry[ComponentPlugin]:
    return load_plugins(extra, quietly=True).components[task]


def _whole(X: Any, y: Any, task: LearningTask, sensitive: Any, positive: object) -> Table:
    import numpy as np

    classes = None
    if task == "classification":
        classes, y = number_classes(y, positive)
    elif positive is not None:
        raise ConfigurationError(
            f"'{positive}' cannot be the positive class: the target is a quantity.",
            hint=Remedy("Leave out {positive}."),
        )
    return Table(X, np.asarray(y), classes, sensitive)


def _parted(
    whole: Table,
    task: LearningTask,
    constraints: tuple[Constraint, ...],
    fraction: float,
    config: RunConfig,
) -> tuple[Any, Any]:
    """Return the places of searched and held-out rows: both have their share of each group."""
    import numpy as np

    if fraction == 0.0:
        return np.arange(len(whole.y)), np.arange(0)
    return hold_out(
        whole.y,
        task,
        fraction,
        config.random_state,
        _groups_of(constraints, whole),
        whole.roles,
        at_random=config.certify is not None,
    )


def _groups_of(constraints: tuple[Constraint, ...], table: Table) -> list[Any]:
    """Return the group of every row, for each limit with groups."""
    return [c.groups(table.sensitive) for c in constraints if c.groups is not None]


def trial_rows(table: Table) -> TrialRows:
    """The rows as limits meet them before there is a pipeline."""
    classes = 0 if table.classes is None else len(table.classes)
    return TrialRows(table.X, table.y, table.sensitive, classes, table.roles.weights)
