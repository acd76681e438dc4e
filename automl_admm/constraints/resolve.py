"""Resolve the name in a limit to its measuring function."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Literal

from automl_admm.constraints.class_views import EachClass, Joining, OneClass, knowing_classes
from automl_admm.constraints.column_values import Changing, OfColumn, column_of
from automl_admm.constraints.comparisons import (
    GAP,
    RATIO,
    gap_of,
    of_worst_group,
    over_classes,
    ratio_of,
)
from automl_admm.constraints.group_comparison import Grouped, InRange
from automl_admm.constraints.groups import Grouping
from automl_admm.constraints.options import (
    demand_no_number,
    with_known_options,
    with_setting,
    written_name,
)
from automl_admm.constraints.reachable_bounds import check_bound, check_percentage
from automl_admm.constraints.sklearn_scorers import score_measure, scorer_names, scorer_target
from automl_admm.constraints.syntax import WrittenLimit
from automl_admm.core.errors import ConfigurationError, Remedy, UnknownNameError
from automl_admm.core.limits import DeclaredRange, Limit
from automl_admm.plugins.configured import configure
from automl_admm.plugins.records import (
    Constraint,
    ConstraintFunction,
    ConstraintPlugin,
    LearningTask,
    Target,
)
from automl_admm.plugins.registry import Registry

# The worst class, whatever is compared in it; and the mean over classes, which may be compared.
WORST: tuple[Literal["min", "max"], ...] = ("min", "max")
MACRO: Joining = "macro"
NUMBER = re.compile(r"\d+(\.\d+)?([eE]-?\d+)?")
Measures = Registry[ConstraintPlugin]
OF_CLASSES = frozenset({"classes", "two classes", "class pair"})


@dataclass(frozen=True, slots=True)
class _Comparing:
    """The rule from NAME to NAME_gap, NAME_ratio, and min_, max_ or macro_NAME of all classes.

    `by_group` makes min_NAME and max_NAME those of groups instead of classes. If the `task` is
    known, no name of another task is suggested. `settings` are the values of options that say how a
    limit is measured; `options` are those of the limit itself.
    """

    measures: Measures
    by_group: bool = False
    task: LearningTask | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)

    def plugin(self, name: str) -> ConstraintPlugin:
        """Return the constraint of a name: a plugin's, a group comparison, or a scorer."""
        if name in self.measures:
            # A plugin may be named like a comparison: `my_gap` is then its own.
            record = configure(self.measures.get(name), self.options)
            return with_setting(demand_no_number(record), self.settings)
        worst = self._worst(name)
        if worst is not None:
            return worst
        if self._is_numbered(name):
            return self._of_number(name)
        for ending in (GAP, RATIO):
            base = name.removesuffix(ending)
            if base != name and self._is_known(base):
                return gap_of(self._base(base)) if ending == GAP else ratio_of(self._base(base))
        if name in scorer_names():
            return score_measure(name)
        if self._is_macro(name):
            return over_classes(self.plugin(name.removeprefix(f"{MACRO}_")), MACRO)
        known, other = self._names(self.task), self._of_another_task(name)
        if name in known:
            other = f"Write '{name}[column]' for the worst group by that column."
        raise UnknownNameError("constraint", name, known, hint=other)

    def _worst(self, name: str) -> ConstraintPlugin | None:
        """Return the worst group or class of a name that says so, else None."""
        for joining in WORST:
            base = name.removeprefix(f"{joining}_")
            if self.by_group and base != name and self._is_known(base):
                return of_worst_group(self._base(base), joining)
            if base != name and self._is_of_two(base):
                return over_classes(self.plugin(base), joining)
        return None

    def provider(self, name: str) -> str:
        """Return the provider of what a name is measured by; "" for a scorer."""
        base = self.base(name)
        return "" if base is None else self.measures.provider(base.name)

    def base(self, name: str) -> ConstraintPlugin | None:
        """Return the record that a name is measured by; None for a scorer."""
        starts = ("", *(f"{joining}_" for joining in (*WORST, MACRO)))
        whole = [name.removeprefix(start) for start in starts]
        bases = [one.removesuffix(end) for end in ("", GAP, RATIO) for one in whole]
        bases += [base.rpartition("_")[0] for base in bases if self._is_numbered(base)]
        return next((self.measures.get(one) for one in bases if one in self.measures), None)

    def _is_known(self, name: str) -> bool:
        is_made = self._is_macro(name) or self._is_numbered(name)
        return is_made or name in self.measures or name in scorer_names()

    def _is_macro(self, name: str) -> bool:
        base = name.removeprefix(f"{MACRO}_")
        return (
            base != name
            and self._is_of_two(base)
            and (base in self.measures or self._is_numbered(base))
        )

    def _is_of_two(self, name: str) -> bool:
        """Return True for a measure of two classes, or for its gap or ratio.

        What is measured by a column is asked of the classes as they are.
        """
        bases = [name, name.removesuffix(GAP), name.removesuffix(RATIO)]
        bases += [base.rpartition("_")[0] for base in bases if self._is_numbered(base)]
        found = [self.measures.get(base) for base in bases if base in self.measures]
        return any(
            one.kind == "statistical" and one.target == "two classes" and not _is_by_column(one)
            for one in found
        )

    def _is_numbered(self, name: str) -> bool:
        """Return True if the name is that of a numbered constraint and a number after it."""
        base, _, number = name.rpartition("_")
        is_number = NUMBER.fullmatch(number) is not None and math.isfinite(float(number))
        return is_number and base in self.measures and self.measures.get(base).numbered is not None

    def _of_number(self, name: str) -> ConstraintPlugin:
        """Return the constraint of a name that ends in a number."""
        base, _, number = name.rpartition("_")
        record = self.measures.get(base)
        assert record.numbered is not None  # noqa: S101 - `_is_numbered` has checked it
        try:
            return record.numbered(float(number))
        except ValueError as problem:
            raise ConfigurationError(f"there is no limit on '{name}': {problem}.") from problem

    def _base(self, name: str) -> ConstraintPlugin:
        base = self.plugin(name)
        if base.function is None or base.kind != "statistical":
            raise ConfigurationError(
                f"'{name}' is not measured on rows, so that no groups can be compared by it.",
                hint="Compare a rate or a metric, as in 'fpr_gap[sex]'.",
            )
        declared = DeclaredRange(base.lowest, base.highest, self.provider(name))
        return replace(base, function=InRange(name, base.function, declared))

    def _of_another_task(self, name: str) -> str | None:
        """Say that the nearest name is of another task; None if it is not, or nothing is near."""
        closest = get_close_matches(name, self._names(None), n=1)
        if not closest or closest[0] in self._names(self.task):
            return None
        return f"Did you mean '{closest[0]}'? That is of {_say_tasks(self.task)}."

    def _names(self, task: LearningTask | None) -> list[str]:
        known = [r for r in self.measures if _suits(r.target, task)]
        compared = [r.name for r in known if _is_compared(r)]
        endings = [base + ending for base in compared for ending in (GAP, RATIO)]
        of_two = [r.name for r in known if self._is_of_two(r.name)]
        over = [f"{MACRO}_{name}" for name in of_two]
        over += [f"{joining}_{name}" for name in compared for joining in WORST]
        scorers = [name for name in scorer_names() if _suits(scorer_target(name), task)]
        return [*map(written_name, known), *endings, *over, *scorers]


def _is_compared(record: ConstraintPlugin) -> bool:
    """Return True for a measure on rows, which groups can be compared by."""
    return record.kind == "statistical" and configure(record, {}).function is not None


def _is_by_column(record: ConstraintPlugin) -> bool:
    """Return True for what is measured by a column of numbers, `NAME[column]`."""
    return record.columned is not None or record.changing is not None


def _suits(target: Target, task: LearningTask | None) -> bool:
    """Return False if a target is of another task than this one; True for no known task."""
    if task == "classification":
        return target != "a quantity"
    return task is None or target not in OF_CLASSES


def _check_task(written: WrittenLimit, plugin: ConstraintPlugin, task: LearningTask | None) -> None:
    if _suits(plugin.target, task):
        return
    groups = f"{GAP}[column]" if plugin.grouped is not None else ""
    if task == "classification":
        instead = f"a rate, such as 'error{groups} <= 0.1'"
    else:
        instead = f"a limit on errors, such as 'mae{groups} <= 1'"
    cure = f"If the target was taken for the wrong kind, say {{task={_other(task)!r}}}."
    raise ConfigurationError(
        f"'{written.measure}' is of {_say_tasks(task)}.",
        hint=Remedy(f"Use {instead}. {cure}", python=f"Use {instead}."),
    )


def _other(task: LearningTask | None) -> LearningTask:
    return "regression" if task == "classification" else "classification"


def _say_tasks(task: LearningTask | None) -> str:
    return f"a {_other(task)}, and this is a {task}"


def constraint_of(
    written: WrittenLimit,
    measures: Measures,
    task: LearningTask | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Constraint:
    """Return the constraint of a text; its groups are unknown until the data are read.

    Raise if it is of another task than this one. The `settings` are values of options by their
    names, for limits that are measured by them.
    """
    is_each = any(option.label is None for option in written.classes)
    written = with_known_options(written, _Comparing(measures).base(written.measure))
    given = {option.name: option.value for option in written.options}
    by_group = bool(written.columns) and not is_each
    names = _Comparing(measures, by_group, task, settings or {}, given)
    plugin = names.plugin(written.measure)
    _check_task(written, plugin, task)
    plugin = _with_options(written, plugin)
    _check_groups(written, plugin)
    check_percentage(written, plugin)
    check_bound(written, plugin)
    is_grouped = bool(written.columns) and not _is_by_column(plugin)
    groups = Grouping(written.columns, written.least) if is_grouped else None
    return Constraint(
        limit=_limit(written, plugin.highest if written.at_least else plugin.lowest),
        function=_function(plugin, groups, written),
        # What a limit will be that hangs on a measurement is not known beforehand.
        cheap=None if written.of_baseline else plugin.cheap,
        kind=plugin.kind,
        target=plugin.target,
        groups=groups,
        of_baseline=written.bound if written.of_baseline else None,
        uses_decisions=plugin.uses_decisions,
        takes_weights=plugin.takes_weights,
        timed_calls=plugin.timed_calls,
        adds_up=plugin.adds_up,
        first_fold=plugin.first_fold,
        declared=DeclaredRange(plugin.lowest, plugin.highest, names.provider(written.measure)),
        asks_model=plugin.asks_model or plugin.changing is not None,
        counts_undecided=plugin.counts_undecided,
        better=plugin.better,
        any_rows=plugin.any_rows,
    )


def _with_options(written: WrittenLimit, plugin: ConstraintPlugin) -> ConstraintPlugin:
    """Return the measure asked of the classes that a limit names; raise if it names wrong ones."""
    options, own = written.classes, plugin.function or plugin.grouped
    given = tuple(option.name for option in options if option.label is not None)
    is_each = isinstance(own, EachClass) and own.joining != MACRO
    if is_each or (plugin.target == "class pair" and own is not None):
        wanted = "{class}" if is_each else '{true="a",predicted="b"}'
        if bool(given) == is_each or len(options) != (1 if is_each else 2):
            groups = plugin.function is not None and is_each
            more = f", or '{plugin.name}[column]' for the worst group" if groups else ""
            hint = f"Write '{plugin.name}{wanted}'{more}."
            raise ConfigurationError(f"'{written.name}' lacks its classes.", hint=hint)
    elif options and (plugin.target != "two classes" or given != ("class",) or own is None):
        by = f"{{{','.join(map(str, written.classes))}}}"
        raise ConfigurationError(
            f"'{written.name}': '{plugin.name}' is not measured by {by}.",
            hint=_other_options(plugin),
        )
    if not given:
        return plugin
    assert own is not None  # noqa: S101 - any other measure is refused above
    asked = OneClass(own, options, written.text)
    if plugin.function is None:
        return replace(plugin, grouped=asked, target="classes")
    return replace(plugin, function=asked, target="classes")


def _other_options(plugin: ConstraintPlugin) -> str:
    name = plugin.name
    if _is_by_column(plugin):
        return f"Write '{name}[column]': it is asked of both classes at once."
    if plugin.target != "two classes":
        return f"Write '{name}' alone, or limit a rate, as in 'recall{{class=\"a\"}}'."
    worst = f"'min_{name}{{class}}' and 'max_{name}{{class}}'"
    return f"Write '{name}{{class=\"a\"}}' for one class; {worst} are about the worst."


def _check_groups(written: WrittenLimit, plugin: ConstraintPlugin) -> None:
    if _is_by_column(plugin):
        column_of(written.columns, written.measure, written.least)
        return
    if plugin.grouped is not None and not written.columns:
        example = f"Name the column that has them, as in '{written.measure}[sex]'."
        raise ConfigurationError(f"'{written.measure}' compares groups.", hint=example)
    if plugin.grouped is None and written.columns:
        columns = written.name.removeprefix(written.measure)
        can_compare = plugin.kind == "statistical"
        hint = f"Did you mean '{written.measure}{GAP}{columns}'?" if can_compare else None
        raise ConfigurationError(f"'{written.measure}' is not measured by group.", hint=hint)


def _function(
    plugin: ConstraintPlugin, groups: Grouping | None, written: WrittenLimit
) -> ConstraintFunction:
    if plugin.columned is not None:
        column = column_of(written.columns, written.measure, written.least)
        return OfColumn(plugin.columned, column)
    if plugin.changing is not None:
        column = column_of(written.columns, written.measure, written.least)
        return Changing(plugin.changing, column)
    if plugin.grouped is not None and groups is not None:
        return Grouped(plugin.grouped, groups)
    assert plugin.function is not None  # noqa: S101 - a plugin has one or the other
    return plugin.function


def _limit(written: WrittenLimit, extreme: float | None) -> Limit:
    """Return the limit; one relative to the baseline is the extreme until that is known."""
    bound = (extreme or 0.0) if written.of_baseline else written.bound
    return Limit(written.name, bound, written.at_least, extreme, written.confidence)


def bare_limit(written: WrittenLimit) -> Limit:
    """Return a limit on a number without groups and without a known range."""
    if written.columns:
        raise ConfigurationError(
            f"'{written.name}': there are no groups in what an objective returns.",
            hint="Return their comparison by a name of its own, and limit that.",
        )
    if written.of_baseline:
        raise ConfigurationError(
            f"the limit on '{written.name}': an objective has no baseline.", hint="Give a number."
        )
    return Limit(written.name, written.bound, written.at_least, confidence=written.confidence)


def with_classes(constraint: Constraint, labels: Sequence[object]) -> Constraint:
    """The same constraint, knowing the classes of the target."""
    return replace(constraint, function=knowing_classes(constraint.function, labels))


def with_groups(constraint: Constraint, names: tuple[str, ...]) -> Constraint:
    """The same constraint, knowing the groups of the data."""
    function = constraint.function
    if not isinstance(function, Grouped):
        return constraint
    return replace(constraint, function=replace(function, names=names))
