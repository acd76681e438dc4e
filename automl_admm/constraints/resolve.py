"""Resolve the name in a limit to its measuring function."""

from __future__ import annotations

from dataclasses import dataclass, replace

from automl_admm.constraints.group_comparison import GapOf, Grouped, RatioOf
from automl_admm.constraints.groups import Grouping
from automl_admm.constraints.reachable_bounds import check_bound
from automl_admm.constraints.sklearn_scorers import score_measure, scorer_names
from automl_admm.constraints.syntax import WrittenLimit
from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.core.limits import DeclaredRange, Limit
from automl_admm.plugins.records import (
    Constraint,
    ConstraintFunction,
    ConstraintPlugin,
)
from automl_admm.plugins.registry import Registry

GAP, RATIO = "_gap", "_ratio"
Measures = Registry[ConstraintPlugin]


@dataclass(frozen=True, slots=True)
class _Comparing:
    """The rule from NAME to NAME_gap or NAME_ratio."""

    measures: Measures

    def plugin(self, name: str) -> ConstraintPlugin:
        """Return the constraint of a name: a plugin's, a group comparison, or a scorer."""
        if name in self.measures:
            # A plugin may be named like a comparison: `my_gap` is then its own.
            return self.measures.get(name)
        for ending in (GAP, RATIO):
            base = name.removesuffix(ending)
            if base != name and self._is_known(base):
                return _gap(self._base(base)) if ending == GAP else _ratio(self._base(base))
        if name in scorer_names():
            return score_measure(name)
        raise UnknownNameError("constraint", name, self._names())

    def provider(self, name: str) -> str:
        """Return the provider of what a name is measured by; "" for a scorer."""
        bases = (name, name.removesuffix(GAP), name.removesuffix(RATIO))
        return next((self.measures.provider(one) for one in bases if one in self.measures), "")

    def _is_known(self, name: str) -> bool:
        return name in self.measures or name in scorer_names()

    def _base(self, name: str) -> ConstraintPlugin:
        base = self.measures.get(name) if name in self.measures else score_measure(name)
        if base.function is None or base.kind != "statistical":
            raise ConfigurationError(
                f"'{name}' is not measured on rows, so that no groups can be compared by it.",
                hint="Compare a rate or a metric, as in 'fpr_gap[sex]'.",
            )
        return base

    def _names(self) -> list[str]:
        compared = [r.name for r in self.measures if r.function and r.kind == "statistical"]
        endings = [base + ending for base in compared for ending in (GAP, RATIO)]
        return [*(record.name for record in self.measures), *endings, *scorer_names()]


def _gap(base: ConstraintPlugin) -> ConstraintPlugin:
    assert base.function is not None  # noqa: S101 - `_base` has checked it
    known = base.lowest is not None and base.highest is not None
    return ConstraintPlugin(
        name=f"{base.name}{GAP}",
        summary=f"largest {base.name} of a group minus the smallest",
        grouped=GapOf(base.function),
        highest=(base.highest or 0.0) - (base.lowest or 0.0) if known else None,
        kind="statistical",
        target=base.target,
        uses_decisions=base.uses_decisions,
        takes_weights=base.takes_weights,
    )


def _ratio(base: ConstraintPlugin) -> ConstraintPlugin:
    assert base.function is not None  # noqa: S101 - `_base` has checked it
    # min / max orders groups only if both are non-negative.
    if base.lowest is None or base.lowest < 0:
        raise ConfigurationError(
            f"'{base.name}' may be negative, and a ratio of such values says nothing.",
            hint=f"Use '{base.name}{GAP}'.",
        )
    return ConstraintPlugin(
        name=f"{base.name}{RATIO}",
        summary=f"smallest {base.name} of a group divided by the largest",
        grouped=RatioOf(base.function),
        highest=1.0,
        kind="statistical",
        target=base.target,
        uses_decisions=base.uses_decisions,
        takes_weights=base.takes_weights,
    )


def constraint_of(written: WrittenLimit, measures: Measures) -> Constraint:
    """Return the constraint of a text; its groups are unknown until the data are read."""
    names = _Comparing(measures)
    plugin = names.plugin(written.measure)
    _check_groups(written, plugin)
    check_bound(written, plugin.lowest, plugin.highest)
    groups = Grouping(written.columns) if written.columns else None
    return Constraint(
        limit=_limit(written, plugin.highest if written.at_least else plugin.lowest),
        function=_function(plugin, groups),
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
    )


def _check_groups(written: WrittenLimit, plugin: ConstraintPlugin) -> None:
    if plugin.grouped is not None and not written.columns:
        example = f"Name the column that has them, as in '{plugin.name}[sex]'."
        raise ConfigurationError(f"'{plugin.name}' compares groups.", hint=example)
    if plugin.grouped is None and written.columns:
        columns = written.name.removeprefix(written.measure)
        can_compare = plugin.kind == "statistical"
        hint = f"Did you mean '{plugin.name}{GAP}{columns}'?" if can_compare else None
        raise ConfigurationError(f"'{plugin.name}' is not measured by group.", hint=hint)


def _function(plugin: ConstraintPlugin, groups: Grouping | None) -> ConstraintFunction:
    if plugin.grouped is not None and groups is not None:
        return Grouped(plugin.grouped, groups)
    assert plugin.function is not None  # noqa: S101 - a plugin has one or the other
    return plugin.function


def _limit(written: WrittenLimit, extreme: float | None) -> Limit:
    """Return the limit; one relative to the baseline is the extreme until that is known."""
    bound = (extreme or 0.0) if written.of_baseline else written.bound
    return Limit(written.name, bound, written.at_least, extreme)


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
    return Limit(written.name, written.bound, written.at_least)


def with_groups(constraint: Constraint, names: tuple[str, ...]) -> Constraint:
    """The same constraint, knowing the groups of the data."""
    function = constraint.function
    if not isinstance(function, Grouped):
        return constraint
    return replace(constraint, function=replace(function, names=names))
