"""The plan of a certificate: its rows, the limits that the search aims at, and its question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from automl_admm.certify.certificate import read_certificate
from automl_admm.certify.plan.planning import LARGEST_FRACTION
from automl_admm.certify.walk.carried_looks import CarriedLooks
from automl_admm.certify.walk.looks import check_ledger
from automl_admm.constraints.dry_run import TrialRows
from automl_admm.constraints.expected_evidence import imagine, imagine_one_class
from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.limits import Limit
from automl_admm.core.percentages import percent_of_risk
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.plugins.foreign_calls import in_time
from automl_admm.plugins.loading import is_of_others
from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import MOST_ASIDE, RunConfig
from automl_admm.runs.prepare.basis import hash_software
from automl_admm.runs.prepare.set_aside import (
    Aside,
    Question,
    aim,
    alike_rows,
    at_look,
    default_ledger,
    find_out_of_reach,
    plan_aside,
    rows_that_count,
    trial_rows,
)
from automl_admm.runs.prepare.shared_work import Known, SharedWork
from automl_admm.runs.provenance import fingerprint, fingerprint_data, run_of
from automl_admm.runs.saved_request import way_of
from automl_admm.store.run_folder import RunFolder

ResultT = TypeVar("ResultT")

ASKED = ("name", "bound", "at_least", "confidence")


def aims_of(
    constraints: tuple[Constraint, ...], aside: Aside | None, question: Question | None
) -> tuple[Limit, ...]:
    """Return the limits for the search: tighter ones where a proof needs room."""
    if aside is None or question is None:
        return tuple(constraint.limit for constraint in constraints)
    return aim(constraints, aside, question.next_look(aside.risk))


def at_next_look(
    question: Question | None,
    known: Known,
    shared: SharedWork,
) -> Aside | None:
    """Return the plan with the shortfalls of the rows set aside at the risk of the next look.

    Raise if that is too little for any pipeline: the look would be spent for nothing.
    """
    aside, work, config = shared.aside, shared.work, shared.config
    if aside is None or question is None or work.held_out is None:
        return aside
    look, constraints = question.next_look(aside.risk), work.constraints
    if config.on_infeasible == "raise" and look != aside.first_look:
        rows = trial_rows(alike_rows(known.whole, config.random_state))
        more = partial(imagine_one_class, rows=rows)
        find = partial(find_out_of_reach, constraints, aside, aside.fraction, look, more)
        if (beyond := _measured_in_time(find, config)) is not None:
            raise ConfigurationError(
                f"there can be no certificate in look {look.number} at these data, with "
                f"{percent_of_risk(look.risk)} of risk: {beyond}",
                hint=Remedy(
                    "Leave out the limit or {certify}, certify on other data, or take the nearest "
                    "model with {on_infeasible='closest'}."
                ),
            )
    counted = trial_rows(rows_that_count(work.held_out, work.tested))
    drawn = _measured_in_time(partial(imagine, constraints, counted), config)
    return at_look(constraints, aside, look, drawn)


def aside_of(constraints: tuple[Constraint, ...], whole: Table, config: RunConfig) -> Aside:
    """Return how many of the rows to set aside; a hanging limit is left at the deadline."""
    is_binary = whole.classes is not None and len(whole.classes) == 2
    rows = trial_rows(alike_rows(whole, config.random_state))
    share = _share_before(constraints, config, len(whole.y))
    plan = partial(_plan, constraints, rows, config, share, has_thresholds=is_binary)
    return _measured_in_time(plan, config)


def _measured_in_time(call: Callable[[], ResultT], config: RunConfig) -> ResultT:
    """Call what measures limits of anybody; raise if one hangs until the deadline."""
    try:
        return in_time(call, config.deadline)
    except TimeoutError as problem:
        message = f"a limit cannot be measured here: {problem}."
        raise ConfigurationError(message, hint="Choose another limit.") from None


def _share_before(
    constraints: tuple[Constraint, ...], config: RunConfig, rows: int
) -> float | None:
    """Return the share asked for, or that of the earlier session; another version may plan another.

    It stays for the same limits, confidence and number of rows.
    """
    if config.certify_fraction is not None or config.place is None or not config.resumed:
        return config.certify_fraction
    folder = RunFolder(config.place)
    if not folder.rows_set_aside.exists():
        return None
    run, aside = folder.read(folder.settings), folder.read(folder.rows_set_aside)
    share: float = aside.get("fraction") or 0.0
    is_same = _are_the_same(run["settings"]["limits"], constraints)
    is_same = is_same and run["settings"].get("certify") == config.certify
    # A session that was killed may have left those of the session before.
    is_of_run = run["data"]["rows"] == aside["rows"] - len(aside["places"])
    is_usable = aside["rows"] == rows and 0.0 < share <= MOST_ASIDE
    return share if is_same and is_of_run and is_usable else None


def _are_the_same(before: Sequence[Mapping[str, Any]], now: Sequence[Constraint]) -> bool:
    """Return True for the same limits; a bound relative to the baseline is not known yet."""
    return len(before) == len(now) and all(
        item.get(name) == getattr(one.limit, name)
        for item, one in zip(before, now, strict=True)
        for name in ASKED
        if name != "bound" or one.of_baseline is None
    )


def _plan(
    constraints: tuple[Constraint, ...],
    rows: TrialRows,
    config: RunConfig,
    share: float | None,
    *,
    has_thresholds: bool,
) -> Aside:
    """Return how many rows to set aside; raise if no number of them can prove the limits."""
    assert config.certify is not None  # noqa: S101 - a certificate was asked for
    examples = imagine(constraints, rows)
    aside = plan_aside(
        constraints,
        examples,
        config.certify,
        share,
        has_thresholds=has_thresholds,
        is_last_look=config.last_look,
    )
    if config.on_infeasible != "raise":
        return aside
    more = partial(imagine_one_class, rows=rows)
    most = config.certify_fraction or LARGEST_FRACTION
    beyond = find_out_of_reach(constraints, aside, most, aside.first_look, more)
    reasons = (*aside.impossible, *([] if beyond is None else [beyond]))
    if reasons:
        raise ConfigurationError(
            f"there can be no certificate: {reasons[0]}",
            hint=Remedy("Leave out the limit or {certify}: rows would be set aside for nothing."),
        )
    return aside


def question_of(known: Known, shared: SharedWork, given: tuple[str, ...]) -> Question | None:
    """Return the rows set aside for a certificate, and the identity of the run asking about them.

    The texts of the grammar and the starts and the versions of the software belong to it: the
    search depends on them, too.
    """
    if known.aside is None:
        return None
    config, work, whole = shared.config, shared.work, known.whole
    assert work.held_out is not None  # noqa: S101 - a share of the rows was set aside
    rows, data = fingerprint(work.held_out), fingerprint_data(whole)
    run = run_of(fingerprint(work.table), config.random_state)
    starts = map(known.grammar.pipelines.text, known.starts)
    asked = [known.grammar.text, *starts, hash_software(known.plugins)]
    way = way_of(config, data, rows, run, *asked) if _may_be_repeated(known) else ""
    ledger = config.looks or default_ledger()
    check_ledger(ledger)
    tested = None if work.tested is None else len(work.tested)
    carried = _carried(config, data)
    return Question(
        rows=rows,
        count=len(work.held_out.y),
        ledger=ledger,
        run=run,
        data=data,
        way=way,
        tested=tested,
        also=given,
        carried=carried,
        is_last=config.last_look,
    )


def _may_be_repeated(known: Known) -> bool:
    """Return False if the same request may test another model.

    Times are never the same, and the code of somebody's plugin may be edited under one version.
    """
    is_timed = any(one.kind == "measured" for one in known.constraints)
    active = [one for one in known.plugins.infos if one.state == "active"]
    return not is_timed and not any(is_of_others(one.provider) for one in active)


def _carried(config: RunConfig, data: str) -> CarriedLooks | None:
    """Return the looks that the folder of the run carries; None if it has no folder.

    A certificate tells at least the number of its own look.
    """
    if config.place is None:
        return None
    folder = RunFolder(config.place)
    if not config.resumed:
        return CarriedLooks(folder.looks, is_new=True)
    if not folder.certificate.exists():
        return CarriedLooks(folder.looks)
    proof = read_certificate(folder.certificate)
    if proof.data_sha256 != data:
        return CarriedLooks(folder.looks)
    return CarriedLooks(folder.looks, least=proof.look, was_last=proof.is_last_look)
