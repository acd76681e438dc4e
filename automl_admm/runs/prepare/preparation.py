"""Check and make ready everything before a run over pipelines touches the disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from automl_admm.constraints.doubtful_limits import doubts_of_limits
from automl_admm.constraints.dry_run import columns_of, meet_data, try_on
from automl_admm.constraints.fitted_groups import fit_groups
from automl_admm.constraints.undecided import refuse_beside_undecided
from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.data.columns import check_characters, check_target
from automl_admm.data.given_splits import Split, doubts_of_splits, refuse_row_numbers
from automl_admm.data.independent_rows import largest_total
from automl_admm.data.ingest.asking import TARGET, refuse_kind_of_others
from automl_admm.data.ingest.doubts import doubts_of_header, find_doubts, task_of
from automl_admm.data.ingest.large_numbers import doubts_of_large_numbers
from automl_admm.data.ingest.leaks import find_leaks
from automl_admm.data.ingest.records import Ingest
from automl_admm.data.row_roles import NO_COLUMNS, RoleColumns, counted_rows
from automl_admm.data.sensitive import known_columns
from automl_admm.data.split_choice import first_deal, say_splits
from automl_admm.data.table_schema import Schema
from automl_admm.grammar import CompiledGrammar, load_grammar
from automl_admm.pipelines.labels import number_classes
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.row_weighing import compares_groups
from automl_admm.pipelines.work import PipelineWork
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.plugins.records import BuildContext, CheapFunction, Constraint, LearningTask
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import (
    SearchPlan,
    check_confidences,
    check_executor,
    components_for,
    in_known_order,
    plan_search,
    resolve_constraints,
)
from automl_admm.runs.prepare.certificate_plan import aims_of, aside_of, at_next_look, question_of
from automl_admm.runs.prepare.ingesting import (
    answer,
    check_column_costs,
    context_of,
    ingest_table,
    name_of,
    schema_of_table,
)
from automl_admm.runs.prepare.portfolio import Facts, Portfolio, choose_portfolio
from automl_admm.runs.prepare.reused import Reused
from automl_admm.runs.prepare.scoring_trial import check_scoring
from automl_admm.runs.prepare.set_aside import Aside, Question, trial_rows
from automl_admm.runs.prepare.shared_work import Known, share_work
from automl_admm.runs.prepare.starts import read_quick, read_starts
from automl_admm.runs.prepare.suggestions import check_parts
from automl_admm.runs.prepare.untrusted_types import check_saved_types
from automl_admm.runs.prepare.weighed_variants import variants_of
from automl_admm.runs.provenance import count_repeated, fingerprints_given
from automl_admm.runs.saved_request import held_back
from automl_admm.search.protocol import SearchProblem
from automl_admm.search.starts import default_start

BEGUN_WITHOUT = "the run began without it, and 'automl-admm resume --allow-changed' takes it in"


@dataclass(frozen=True)
class Preparation:
    """Everything checked before a run touches the disk.

    The search is given `aims`: the limits, or tighter ones if they are to be certified on the
    rows `set_aside`, a part of the data's `rows`. `target`, `sensitive` and, by their role,
    `columns` are the names of columns, if they have any; `schema` describes all columns of the
    user, `ingest` says what pipelines see of them, `answers` how numbers in text are read in the
    target, the weights and the sensitive columns, and `leaks` names those that tell the target.
    `reused` has evaluations of other runs.
    `doubts` are warnings of a target, a header or splits that may not be what they seem, and
    `doubtful_limits` those of limits.
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
    answers: Ingest
    leaks: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    doubtful_limits: tuple[str, ...] = ()
    target: str | None = None
    sensitive: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    aside: Aside | None = None
    question: Question | None = None
    caution: str | None = None
    reused: Reused = field(default_factory=Reused)

    @property
    def task(self) -> LearningTask:
        """Classification or regression."""
        return self.work.context.task

    @property
    def split(self) -> str:
        """The way to validate, in a line."""
        table = self.work.table
        return say_splits(self.work.splits, self.config.cv, table.roles, len(table.y))

    @cached_property
    def repeated(self) -> list[dict[str, int]]:
        """The numbers of rows that stand more than once, computed once: a run needs them thrice."""
        return count_repeated(self.work.table)

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
            starts=self.starts or self._begun,
            quick=self._quick,
            portfolio=self.portfolio.starts,
            priors=self.portfolio.priors,
            limits=self.aims,
            cheap={name: partial(_measure_steps, pipelines, cheap[name]) for name in cheap},
            lowest_fidelity=config.least_fidelity,
            seed=config.random_state,
            evaluations=config.max_evaluations,
            text=pipelines.text,
            model=pipelines.model,
            variants=variants_of(pipelines, self.plugins.components[self.task]),
        )

    @cached_property
    def portfolio(self) -> Portfolio:
        """The pipelines to try first: those that were good on other tables.

        They were learned without limits, but most of them are within most limits. A user who says
        where to begin means it.
        """
        if not self.config.portfolio or self.starts:
            return Portfolio()
        pipelines = self.grammar.pipelines
        usual = default_start(pipelines.space)
        begun = self._quick or (usual,)
        return choose_portfolio(Facts.of(self.work), pipelines, begun, usual)

    @property
    def _begun(self) -> tuple[Candidate, ...]:
        """The start that nobody chose: the first alternatives of the grammar.

        After a quick pipeline it waits for its turn in the portfolio: on a wide table boosting may
        take most of a short budget.
        """
        waits = self._quick and self.portfolio.starts
        return waits[:1] if waits else (default_start(self.grammar.pipelines.space),)

    @property
    def baseline(self) -> Candidate:
        """The pipeline that limits are relative to, whatever is tried before it."""
        return (*self.starts, default_start(self.grammar.pipelines.space))[0]

    @property
    def first(self) -> Candidate:
        """The pipeline that a new run begins with."""
        problem = self.problem
        return (*problem.quick, *problem.starts)[0]

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
    given = () if config.certify is None else fingerprints_given(config, X, y, sensitive, columns)
    answered, given_rows = answer(config, y, sensitive, columns), len(y)
    X, y, sensitive, columns = counted_rows(X, answered.y, answered.sensitive, answered.columns)
    _check_row_numbers(config, given_rows - len(y))
    known = _learn(config, X, y, sensitive, columns, given_rows - len(y))
    shared = share_work(known)
    work, taken, config = shared.work, known.taken, shared.config
    caution = check_scoring(work, config.deadline)
    deal = first_deal(work.splits, config.cv)
    rows = [trial_rows(work.table.part(valid)) for _, valid in deal]
    try_on(work.constraints, rows, config.deadline)
    question = question_of(known, shared, given)
    aims = aims_of(work.constraints, shared.aside, question)
    if config.work_dir is not None:
        components = known.plugins.components[known.task]
        check_saved_types(components, known.grammar, known.task, config.time_budget)
    return Preparation(
        config=config,
        plugins=known.plugins,
        grammar=known.grammar,
        starts=known.starts,
        constraints=work.constraints,
        plan=known.plan,
        work=replace(work, aims=aims),
        aims=aims,
        rows=len(known.whole.y),
        largest=largest_total(known.whole.roles),
        set_aside=shared.set_aside,
        schema=schema_of_table(taken, y, sensitive, columns.frame()).leaving(
            answered.answers.formed
        ),
        ingest=taken.ingest,
        answers=answered.answers,
        leaks=find_leaks(taken.raw, y, taken.ingest.left_out),
        doubts=_doubts(X, y, known, work.splits),
        doubtful_limits=tuple(doubts_of_limits(work.constraints)),
        target=name_of(y),
        sensitive=known.sensitive,
        columns=columns.names(),
        aside=at_next_look(question, known, shared),
        question=question,
        caution=caution,
    )


def _check_row_numbers(config: RunConfig, left_out: int) -> None:
    sets_aside, is_part = config.certify is not None, config.portion is not None
    refuse_row_numbers(config.cv, left_out, sets_aside=sets_aside, is_part=is_part)


def _doubts(X: Any, y: Any, known: Known, splits: Sequence[Split]) -> tuple[str, ...]:
    """Return warnings on the target, the names and numbers of the columns, and the splits."""
    name, raw = name_of(y), known.taken.raw
    of_names = () if name is None else doubts_of_header(list(getattr(raw, "columns", ())), name)
    of_numbers = doubts_of_large_numbers(X, known.taken.ingest.numeric)
    return (*find_doubts(y, known.task), *of_names, *of_numbers, *doubts_of_splits(splits))


def _others(y: Any, sensitive: Any, columns: RoleColumns) -> Mapping[str, str]:
    """Return the columns that are no features, each with what it is."""
    others = {} if sensitive is None else dict.fromkeys(map(str, sensitive.columns), "sensitive")
    others |= {name: f"the {role}" for role, name in columns.names().items()}
    name = name_of(y)
    return others if name is None else {**others, name: TARGET}


def _learn(
    config: RunConfig, X: Any, y: Any, sensitive: Any, columns: RoleColumns, left_out: int
) -> Known:
    """Check the settings, then the table; find the kinds of its columns and the grammar for it."""
    roles = columns.read(are_known=config.certify is not None)
    plugins = load_plugins(config.extra_plugins)
    check_parts(config, plugins)
    plan = plan_search(config, plugins)
    check_executor(config, plugins)
    task = config.task or task_of(y)
    config, constraints = in_known_order(config, resolve_constraints(config, plugins, task))
    check_confidences(constraints, config)
    check_target(y, task, left_out)
    others = _others(y, sensitive, columns)
    check_characters(others)
    refuse_kind_of_others(config.columns or {}, others)
    taken = ingest_table(config, X, columns.place)
    check_column_costs(config.column_cost, [c.limit for c in constraints], taken.ingest, others)
    has_groups = any(map(compares_groups, constraints))
    context = replace(context_of(task, taken), has_groups=has_groups)
    if any(map(_may_leave_gaps, constraints)):
        context = replace(context, has_gaps=True)
    context, grammar, starts = _with_starts(config, context, plugins)
    measured = known_columns(sensitive, taken.for_limits(), columns_of(constraints))
    whole = replace(_whole(taken.made, y, task, measured, config.positive), roles=roles)
    # Until the rows to learn from are known, groups that hang on them are those of all rows.
    first = tuple(fit_groups(one, whole.sensitive) for one in constraints)
    constraints = meet_data(first, trial_rows(whole))
    refuse_beside_undecided(
        constraints,
        has_cost=config.cost is not None,
        by_group=config.group_thresholds,
        labels=() if whole.classes is None else tuple(whole.classes),
    )
    return Known(
        config=config,
        plugins=plugins,
        plan=plan,
        constraints=constraints,
        context=context,
        grammar=grammar,
        starts=starts,
        taken=taken,
        whole=whole,
        aside=None if config.certify is None else aside_of(constraints, whole, config),
        sensitive=() if sensitive is None else tuple(map(str, sensitive.columns)),
    )


def _with_starts(
    config: RunConfig, context: BuildContext, plugins: Plugins
) -> tuple[BuildContext, CompiledGrammar, tuple[Candidate, ...]]:
    """Return the grammar for a table, and the pipelines of the user to begin with.

    One of them may fill gaps in another way than by default, for later rows: then it begins as it
    is written, and fillings are searched.
    """
    grammar = _grammar(config, context, plugins)
    starts = read_starts(config.starts, grammar.pipelines, grammar.absent)
    if context.has_gaps or not starts:
        return context, grammar, starts
    wider = replace(context, has_gaps=True)
    whole = _grammar(config, wider, plugins)
    written = read_starts(config.starts, whole.pipelines, whole.absent)
    read, meant = list(map(grammar.pipelines.key, starts)), list(map(whole.pipelines.key, written))
    return (context, grammar, starts) if read == meant else (wider, whole, written)


def _may_leave_gaps(constraint: Constraint) -> bool:
    """Return True if a limit may ask for predictions of rows with gaps that the data lack."""
    is_of_user = constraint.declared is None
    return constraint.asks_model or is_of_user


def _grammar(config: RunConfig, context: BuildContext, plugins: Plugins) -> CompiledGrammar:
    """Load the grammar, without components for another task or other kinds of columns.

    A resumed run goes on without the optional components that it began without.
    """
    components, elsewhere, back = components_for(context.task, plugins, held_back(config))
    grammar = load_grammar(
        config.grammar,
        components,
        plugins.grammars,
        elsewhere,
        config.max_depth,
        context.facts,
    )
    reasons = {name: BEGUN_WITHOUT for name in grammar.left_out if name in back}
    return replace(grammar, left_out={**grammar.left_out, **reasons})


def aim_again(prepared: Preparation, constraints: tuple[Constraint, ...]) -> Preparation:
    """Return the same preparation with other numbers in its limits."""
    aims = aims_of(constraints, prepared.aside, prepared.question)
    return replace(prepared, constraints=constraints, aims=aims)


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
