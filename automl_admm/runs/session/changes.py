"""Changes between a saved run and its resumption: in the data, the grammar, limits, the metric."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from automl_admm.core.errors import ConfigurationError, Remedy, StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import say_count
from automl_admm.core.ranking import rank
from automl_admm.core.space import Candidate, SearchSpace
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.data.row_roles import NAMES as ROLE_NAMES
from automl_admm.grammar.text.matcher import parse
from automl_admm.runs.metric_code import is_other_metric
from automl_admm.runs.options import OPTIONS
from automl_admm.runs.prepare.basis import basis_of
from automl_admm.runs.provenance import add_sums
from automl_admm.runs.session.brought_parts import BROUGHT, other_versions
from automl_admm.runs.session.written_limits import read_limit

if TYPE_CHECKING:
    from automl_admm.runs.prepare.preparation import Preparation

SHOWN_CHARACTERS = 60
STARTS = 10
# The key of `run.json` for the parts of its basis that changed between sessions.
MIXED = "mixed_basis"
# Keys of `settings` whose values are compared in a way of their own.
APART = frozenset({"grammar_text", "limits"})
# The options on which the measurements depend, by their key in `settings`. Older versions did not
# write every key; a missing option had its default.
DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        option.compared_as: option.default
        for option in OPTIONS
        if option.compared_as is not None and option.compared_as not in APART
    }
)
# The sums of the rows that a search sees, and of those that are kept from it.
SUMS = ("rows_sum", "held_out_rows_sum")
# The target, the sensitive columns and those with a role are chosen with the data.
MEASURED = ("target", "sensitive", *ROLE_NAMES, *DEFAULTS)


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes, a line each, and their effect on the evaluations made before.

    If the `space` changed, the evaluations have to be read anew from their texts. They are `void`
    if they were measured on other rows, by another version of a plugin, or if another quantity was
    measured. With other `bounds` their decision thresholds were chosen for what is not asked any
    more.
    """

    lines: tuple[str, ...] = ()
    space: bool = False
    void: bool = False
    bounds: bool = False


def find_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Changes:
    """Compare the saved `run.json` with the content for the present settings."""
    data = (
        _order_of_columns(before, now)
        or _data(before["data"], now["data"])
        or _orders(before, now)
        or _labels(before, now)
        or _columns_of_limits(before["data"], now["data"])
        or _metric(before, now)
        or _splits(before, now)
    )
    was, is_now = ({**DEFAULTS, **side["settings"]} for side in (before, now))
    measured = [
        f"{name}: {_shown(was.get(name))} → {_shown(is_now.get(name))}"
        for name in MEASURED
        if was.get(name) != is_now.get(name)
        and not _is_same_column(name, was.get(name), is_now.get(name))
    ]
    limits = _limits(was["limits"], is_now["limits"])
    brought = other_versions(before[BROUGHT], now[BROUGHT])
    names = [[item["name"] for item in side["limits"]] for side in (was, is_now)]
    is_other_space = was["space_sha256"] != is_now["space_sha256"]
    texts = was["grammar_text"], is_now["grammar_text"]
    grammar = (_components(before, now) or [_grammar(*texts)]) if is_other_space else []
    return Changes(
        lines=(*data, *measured, *limits, *grammar, *brought),
        space=is_other_space,
        void=bool(data or measured or brought) or names[0] != names[1],
        bounds=bool(limits),
    )


def _is_same_column(setting: str, was: Any, is_now: Any) -> bool:
    """Return True for a column that had a name or has none: the data say if it is another one."""
    if setting == "target":
        return not was
    return setting in ROLE_NAMES and was is not None and is_now == ROLE_NAMES[setting]


def _order_of_columns(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    was, is_now = ([str(one["name"]) for one in side["schema"]] for side in (before, now))
    is_other = was != is_now and sorted(was) == sorted(is_now)
    return ["data: the columns stand in another order"] if is_other else []


def _data(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    if _has_other_split(was, now):
        told = "the same rows, but others of them are kept from the search"
        why = "as for limits on other groups or for rows in another order"
        return [f"data: {told}, {why}"]
    shapes = [
        f"{say_count(side['rows'], 'row')}, {say_count(side['columns'], 'column')}"
        for side in (was, now)
    ]
    if shapes[0] != shapes[1]:
        return [f"data: {shapes[0]} → {shapes[1]}"]
    same = all(was.get(name) == now.get(name) for name in ("sha256", "held_out_sha256"))
    return [] if same else [f"data: {shapes[0]} as before, but other values"]


def _has_other_split(was: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return True if all rows together are as before."""
    parts = [[str(side[name] or "") for name in SUMS] for side in (was, now)]
    is_known = all((*parts[0], *parts[1])) and was["columns"] == now["columns"]
    if not is_known or parts[0] == parts[1]:
        return False
    return add_sums(*parts[0]) == add_sums(*parts[1])


def _orders(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    told = (
        (other_orders, "stand in other places"),
        (lost_orders, "have no order any more"),
        (new_orders, "have an order now"),
    )
    pairs = ((", ".join(find(before, now)), words) for find, words in told)
    return [f"data: the levels of {_shown(names)} {words}" for names, words in pairs if names]


def _labels(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Tell that classes have other labels: the hash of the data is of the numbers of classes."""
    was, is_now = (side["data"].get("classes") for side in (before, now))
    if None in (was, is_now) or was == is_now:
        return []
    return [f"classes: {_shown(', '.join(was))} → {_shown(', '.join(is_now))}"]


def _columns_of_limits(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Tell of other values in columns of limits."""
    before, after = was.get("for_limits", {}), now.get("for_limits", {})
    names = [name for name in before if name in after and before[name] != after[name]]
    return [f"data: other values of {', '.join(names)}, which limits name"] if names else []


def _metric(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Tell that a metric given as an object has other code under the same name, if both say it."""
    is_other = is_other_metric(was.get("metric_code"), now.get("metric_code"))
    return ["the metric has the same name and other code"] if is_other else []


def _splits(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Tell that rows are dealt into other folds."""
    was, is_now = (side["basis"]["splits"] for side in (before, now))
    seeds, folds = (
        [side["settings"][name] for side in (before, now)] for name in ("seed", "folds")
    )
    if was == is_now or folds[0] != folds[1]:
        return []
    if seeds[0] != seeds[1]:
        return [f"folds: seed {seeds[0]} → seed {seeds[1]}"]
    settings = now["settings"]
    by = [*settings["sensitive"], *(settings[name] for name in ROLE_NAMES if settings.get(name))]
    values = f"other values of {', '.join(map(str, by))} or " if by else ""
    return [f"folds: other rows in them, as of {values}a splitter without a random_state"]


def _limits(was: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> list[str]:
    texts = [[str(read_limit(item)) for item in side] for side in (was, now)]
    if texts[0] == texts[1]:
        return []
    return [f"limits: {', '.join(texts[0]) or 'none'} → {', '.join(texts[1]) or 'none'}"]


def _components(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Name the optional components that came or went, if the text of the grammar is the same."""
    if before["settings"]["grammar_text"] != now["settings"]["grammar_text"]:
        return []
    was, is_now = (side["components_left_out"] for side in (before, now))
    lost = [f"component '{name}': there → left out" for name in sorted(set(is_now) - set(was))]
    found = [f"component '{name}': left out → there" for name in sorted(set(was) - set(is_now))]
    return [*lost, *found]


def _grammar(was: str, now: str) -> str:
    """Name the first line that differs; none does if what the same text stands for changed."""
    pairs = zip_longest(was.splitlines(), now.splitlines(), fillvalue="")
    for number, (old, new) in enumerate(pairs, start=1):
        if old != new:
            return f"grammar, line {number}: {_shown(old)} → {_shown(new)}"
    return (
        "grammar: the same text, but another space (its components changed, or a limit that asks "
        "about gaps came or went)"
    )


def _shown(value: object) -> str:
    text = f"'{value}'" if isinstance(value, str) else str(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def refuse(changes: Changes, folder: Path) -> StoreError:
    """Return the error that lists the changes."""
    return StoreError(
        f"the run in '{folder}' was begun with something else ({'; '.join(changes.lines)}).",
        hint=Remedy(
            "Give back what it was, or allow the change with --allow-changed.",
            python="Give back what it was, or fit anew with another work_dir; "
            "`automl-admm resume` may allow the change.",
        ),
    )


@dataclass(frozen=True, slots=True)
class ReadAnew:
    """Evaluations with their candidates in a new space.

    Those `rewritten` have another key there, as with the arguments of a component in another order:
    such pipelines have to be evaluated again.
    """

    kept: tuple[Evaluation, ...] = ()
    rewritten: tuple[Evaluation, ...] = ()


def read_anew(evaluations: Iterable[Evaluation], space: PipelineSpace) -> ReadAnew:
    """Read the evaluations of pipelines in the new space; the others are in neither part."""
    kept: list[Evaluation] = []
    rewritten: list[Evaluation] = []
    for evaluation in evaluations:
        candidate = _parsed(evaluation, space)
        if candidate is not None:
            has_its_key = space.key(candidate) == evaluation.key
            (kept if has_its_key else rewritten).append(replace(evaluation, candidate=candidate))
    return ReadAnew(tuple(kept), tuple(rewritten))


def _parsed(evaluation: Evaluation, space: PipelineSpace) -> Candidate | None:
    try:
        candidate = parse(evaluation.text, space)
    except ConfigurationError:
        return None
    return replace(candidate, fidelity=evaluation.candidate.fidelity)


def best_texts(evaluations: Sequence[Evaluation], space: PipelineSpace) -> tuple[Candidate, ...]:
    """Return the best known pipelines, to begin at if everything has to be evaluated again."""
    # The limits were different ones, so the loss alone counts.
    bare = [replace(evaluation, constraints=()) for evaluation in evaluations]
    parsed = (_parsed(evaluation, space) for evaluation in rank(bare, ()))
    found = [candidate for candidate in parsed if candidate is not None]
    return tuple(found[:STARTS])


def hash_space(space: SearchSpace) -> str:
    """Return a hash of the selections and parameters of a space, and of their meaning."""
    return hashlib.sha256(repr((space.decisions, space.parameters)).encode()).hexdigest()


def other_orders(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the features with their levels in another order than in the `run.json` before.

    Nothing is told of a column without levels in one of both.
    """
    ordered = frozenset(before["ordered_columns"])
    was, is_now = _levels(before), _levels(now)
    return [
        name
        for name in sorted({*was} & {*is_now})
        if _differ(was[name], is_now[name], by_place=name in ordered)
    ]


def lost_orders(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the features whose levels had an order in the `run.json` before, and have none."""
    return sorted({*before["ordered_columns"]} - {*now["ordered_columns"]})


def new_orders(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the features whose levels have an order, and had none in the `run.json` before."""
    return lost_orders(now, before)


def _levels(side: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """Return the levels of features by their names; in a schema features stand first."""
    features = len(side["ingest"]) if "ingest" in side else side["data"]["columns"]
    described = side["schema"][:features]
    return {str(one["name"]): one["categories"] for one in described if one.get("categories")}


def _differ(was: Sequence[Any], is_now: Sequence[Any], *, by_place: bool) -> bool:
    """Return True if common levels stand in another order, or `by_place` in other places.

    A level between two others gives these other numbers, even if no row has it.
    """
    both = {*was} & {*is_now}
    old, new = (
        [(place if by_place else 0, level) for place, level in enumerate(side) if level in both]
        for side in (was, is_now)
    )
    return old != new


def mixed_parts(
    before: Mapping[str, Any],
    prepared: Preparation,
    known: Sequence[Evaluation],
    *,
    is_decided_anew: bool,
) -> tuple[str, ...]:
    """Return the parts of the basis not known to be equal for all evaluations, old and new.

    Another seed, number of workers or version leaves a log valid; but another run takes a number
    over only if all sessions measured alike. Evaluations decided anew have the thresholds of now.
    """
    if not any(one.ok for one in known):
        return ()
    was, is_now = before["basis"], basis_of(prepared)
    changed = {part for part in is_now if was[part] != is_now[part]}
    alike = {"thresholds"} if is_decided_anew else set()
    return tuple(sorted({*before.get(MIXED, ()), *changed} - alike))
