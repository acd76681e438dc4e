"""A certificate computed again: from the model, the data and the log of the run alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from automl_admm.certify.certificate import Certificate, read_certificate
from automl_admm.certify.claims import verify
from automl_admm.certify.walk.carried_looks import CarriedLooks
from automl_admm.certify.walk.findings import Finding
from automl_admm.certify.walk.looks import Look, find_look
from automl_admm.certify.walk.sequence import Contender
from automl_admm.certify.walk.verdicts import judge_in
from automl_admm.constraints.expected_evidence import imagine
from automl_admm.constraints.fitted_groups import say_fitted
from automl_admm.core.errors import DataError, Remedy, StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.evidence import Evidence, Timing
from automl_admm.core.messages import say_count
from automl_admm.core.run import RunState
from automl_admm.data.fingerprints import fingerprint_rows
from automl_admm.execution.threads import threads_each
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.thresholds.path import place_of
from automl_admm.plugins.records import Constraint
from automl_admm.runs.finish.certification import ask, whole_text
from automl_admm.runs.finish.contenders import at_stop, contend, price_of
from automl_admm.runs.finish.model_file import refuse_replaced
from automl_admm.runs.finish.noted_thresholds import read_thresholds, read_walked
from automl_admm.runs.finish.walked_log import came_later, has_log_of
from automl_admm.runs.prepare.set_aside import (
    alike_rows,
    default_ledger,
    plan_aside,
    tested_rows,
    trial_rows,
)
from automl_admm.runs.provenance import (
    fingerprint,
    fingerprint_data,
    hash_table,
    run_of,
    tell_other_machine,
)
from automl_admm.runs.saved.certified_run import CertifiedRun, read_certified
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.stops_before import judge_again, not_passed, stops_before
from automl_admm.runs.session.model_run import of_other_session
from automl_admm.runs.session.run_log import read_evaluations
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True)
class Verified:
    """The certificate of a run, the findings of today, and the differences, in sentences.

    `timed` are the limits on calls, timed again on this machine: they decide nothing. `unvouched`
    names the claims beyond any new computation. `machine` says how this one differs from that of
    the timings. `groups` says how groups were made, and of those
    that no claim is about.
    """

    certificate: Certificate
    findings: tuple[Finding, ...]
    differences: tuple[str, ...]
    timed: tuple[str, ...] = ()
    unvouched: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    machine: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Again:
    """The material of a verification: the rows set aside, and all rows if they were given."""

    run: CertifiedRun
    certificate: Certificate
    rows: Table
    whole: Table | None
    constraints: tuple[Constraint, ...]
    evaluations: tuple[Evaluation, ...]

    @property
    def tested(self) -> Any:
        """The places, among the rows set aside, of those that the certificate counts; None: all."""
        if self.whole is not None:
            seed = int(self.run.settings["seed"])
            return tested_rows(self.whole, list(self.run.aside.places), seed)
        known = self.run.aside.tested
        return None if known is None else np.array(known, dtype=np.intp)

    @property
    def logged(self) -> Evaluation | None:
        """The evaluation of the model: in the run's log, or that of an ensemble of it."""
        number = self.run.manifest.get("evaluation")
        found = next((one for one in self.evaluations if one.number == number), None)
        return found if number is not None else self.ensemble

    @property
    def ensemble(self) -> Evaluation | None:
        """The evaluation of the ensemble that was certified; None for a pipeline."""
        return read_walked(self.run.manifest, self.evaluations)

    @property
    def before_the_walk(self) -> tuple[Evaluation, ...]:
        """The evaluations that the walk chose from: a session that came later may have more."""
        manifest, whole = self.run.manifest, self.ensemble
        found = tuple(one for one in self.evaluations if not came_later(one, manifest))
        return found if whole is None else (*found, whole)

    @property
    def place(self) -> int | None:
        """The stop of its path at which the model decides; None if it has none."""
        found = self.logged
        return None if found is None else place_of(found, read_thresholds(self.run.manifest))

    @property
    def shipped(self) -> Evaluation | None:
        """The evaluation of the model as it decides."""
        found = self.logged
        return None if found is None else at_stop(found, self.constraints, self.place)


def verify_run(folder: RunFolder, given: GivenTable) -> Verified:
    """Compute again all claims of a run's certificate, and name those beyond computation.

    The table has the rows set aside alone, or all rows of the data in their order.
    """
    if not folder.certificate.exists():
        raise StoreError(
            f"'{folder.path}' holds no certificate.",
            hint=Remedy("Fit with {certify=0.95} to get one."),
        )
    run = read_certified(folder, given)
    certificate = read_certificate(folder.certificate)
    again = _read_again(run, certificate, given.frame)
    constraints = again.constraints
    # Calls are timed with as many threads as they were in the run; that holds for what is loaded.
    with threadpool_limits(threads_each(int(run.settings["workers"]))):
        seen = run.evidence(again.rows, constraints, again.tested)
    spent = Look.of(certificate.look, run.risk, is_last=certificate.is_last_look)
    drawn = again.rows if again.tested is None else again.rows.part(list(again.tested))
    stops = stops_before(certificate, again.logged)
    before = judge_again(stops, run.pipeline, drawn, constraints, spent)
    order, look = _order(again), _look(again, CarriedLooks(folder.looks))
    is_known_here = _look(again) is not None
    findings = tuple(
        _finding(again, constraint, evidence, spent)
        for constraint, evidence in zip(constraints, seen, strict=True)
    )
    differences = (
        *_edited(again),
        *verify(certificate, _claims(again, order, look, spent), findings),
        *not_passed(before),
    )
    if differences:
        refuse_replaced(folder, run.manifest)
    return Verified(
        certificate,
        findings,
        differences,
        tuple(judge_calls(constraints, seen, spent)),
        tuple(_unvouched(again, order, len(before), is_known_here=is_known_here)),
        tuple(chain.from_iterable(map(say_fitted, constraints))),
        tell_other_machine(run.aside.machine),
    )


def _read_again(run: CertifiedRun, certificate: Certificate, frame: Any) -> _Again:
    places, frame = list(run.aside.places), run.counted(frame.reset_index(drop=True))
    whole = run.table(frame) if len(frame) == run.aside.rows else None
    if whole is None and len(frame) != len(places):
        raise DataError(
            f"{run.data} has {say_count(len(frame), 'row')}, and the run had {run.aside.rows}, of "
            f"which {len(places)} were set aside.",
            hint="Give the file that the run was made on, or just the rows set aside; with --fresh "
            "rows that the run never saw.",
        )
    rows = run.table(frame) if whole is None else whole.part(places)
    _refuse_other_order(run, rows if whole is None else whole)
    constraints = run.constraints(rows if whole is None else whole)
    evaluations = _log_of_the_model(run)
    if any(one.ok and len(one.constraints) != len(constraints) for one in evaluations):
        limits = say_count(len(constraints), "limit")
        raise StoreError(
            f"'{run.folder.settings}' has {limits}, and the log has other numbers of values.",
            hint="It was changed after the run wrote it: restore it, or fit again.",
        )
    return _Again(run, certificate, rows, whole, constraints, evaluations)


def _log_of_the_model(run: CertifiedRun) -> tuple[Evaluation, ...]:
    """Return the evaluations that the model came from; none if a later session changed the log.

    A certified model kept in a folder of its own has no log beside it.
    """
    folder = run.folder
    is_kept_apart = not folder.settings.exists() and not folder.store.exists()
    if is_kept_apart:
        return ()
    manifest, content = run.manifest, folder.read(folder.settings)
    found = () if of_other_session(manifest, content) else read_evaluations(folder)
    return found if has_log_of(manifest, found) else ()


def _refuse_other_order(run: CertifiedRun, table: Table) -> None:
    """Raise if the rows are those of the run, but in another order."""
    hashes = run.hashes()
    if hashes is None:
        return
    is_whole = len(table.y) == len(hashes)
    expected = hashes.exact if is_whole else hashes.exact[list(run.aside.places)]
    given = hash_table(table)
    is_other = not np.array_equal(given, expected)
    if is_other and fingerprint_rows(given) == fingerprint_rows(expected):
        whose = "of the run" if is_whole else "that the run set aside"
        raise DataError(
            f"{run.data} has the rows {whose} in another order.",
            hint="Which rows were set aside is known by their places: give them in the order that "
            "they had in the run.",
        )


def _claims(
    again: _Again, order: tuple[str, ...] | None, look: int | None, spent: Look
) -> dict[str, object]:
    """Return the expected claims of the certificate, as far as they follow from the files."""
    run, certificate = again.run, again.certificate
    claims: dict[str, object] = {
        "model_sha256": run.manifest["sha256"],  # that of the file, or it would not be loaded
        "rows_sha256": fingerprint(again.rows),
        "rows": len(again.rows.y),
        "risk": run.risk,
        "risk_spent": spent.risk,
        "versions": run.manifest["versions"],
    }
    claims["tested"] = None if again.tested is None else len(again.tested)
    if again.whole is not None:
        claims["data_sha256"] = fingerprint_data(again.whole)
    shipped = again.shipped
    if shipped is not None:
        claims["pipeline"] = whole_text(shipped)
    if order is not None:
        claims["order"] = order
    ordered = certificate.order if order is None else order
    if shipped is not None:
        stop = Contender(shipped.key, 0.0, 0.0, again.place)
        place = stop.place if stop.name in ordered else None
        name = replace(stop, place=place).name
        claims["position"] = ordered.index(name) + 1 if name in ordered else 0
        if again.logged is not None:
            claims["price"] = price_of(again.logged, again.constraints, place)
    return claims if look is None else claims | {"look": look}


def _order(again: _Again) -> tuple[str, ...] | None:
    """Return the order of the walk, computed from the log; None if it is unknown."""
    is_over = again.run.content.get("state") == RunState.DONE
    if again.whole is None or not is_over or not again.evaluations:
        return None
    alike = alike_rows(again.whole, int(again.run.settings["seed"]))
    examples = imagine(again.constraints, trial_rows(alike))
    confidence, fraction = float(again.run.settings["certify"]), again.run.aside.fraction
    classes = again.whole.classes
    is_binary = classes is not None and len(classes) == 2
    given = again.constraints, examples, confidence, fraction
    is_last = again.certificate.is_last_look
    aside = plan_aside(*given, has_thresholds=is_binary, is_last_look=is_last)
    return tuple(one.name for one in contend(again.before_the_walk, again.constraints, aside))


def _look(again: _Again, carried: CarriedLooks | None = None) -> int | None:
    """Return the number of the look in the ledger of this machine or in the folder, if any."""
    run, certificate = again.run, again.certificate
    said = run.content["request"]["looks"]
    ledger = default_ledger() if said is None else Path(said)
    searched = run_of(run.content["data"]["sha256"], int(run.settings["seed"]))
    limits = [str(constraint.limit) for constraint in again.constraints]
    way = f"{searched} {certificate.token}"
    is_last = certificate.is_last_look
    asked = ask(certificate.order, limits, run.risk, way, is_last=is_last)
    return find_look(ledger, certificate.data_sha256, asked, carried=carried)


def _edited(again: _Again) -> Iterator[str]:
    """Yield the contradictions between the files of the run."""
    run, certificate = again.run, again.certificate
    written = run.manifest.get("certificate_sha256")
    content = run.folder.certificate.read_bytes()
    if written is not None and hashlib.sha256(content).hexdigest() != written:
        yield "certificate.json is not the file that the run wrote."
    data = run.content["data"]
    if data["held_out_sha256"] != certificate.rows_sha256:
        yield "run.json speaks of other rows set aside than the certificate."
    if again.whole is not None:
        places = set(run.aside.places)
        searched = [place for place in range(run.aside.rows) if place not in places]
        if fingerprint(again.whole.part(searched)) != data["sha256"]:
            yield "The rows that were not set aside are not those that the run searched on."
        drawn = None if again.tested is None else tuple(map(int, again.tested))
        if drawn != run.aside.tested:
            yield "Other rows were tested than their weights and groups say."


def _finding(again: _Again, constraint: Constraint, seen: Evidence, look: Look) -> Finding:
    """Return the finding of one limit: a timed one is judged by the run's own record of it."""
    measured = constraint.kind == "measured"
    recorded = again.run.recorded(constraint, seen) if measured else None
    return judge_in(look, seen if recorded is None else recorded, constraint.limit)


def judge_calls(
    constraints: Sequence[Constraint], seen: Sequence[Evidence], look: Look
) -> Iterator[str]:
    """Yield the verdicts on calls timed on this machine, now."""
    for constraint, evidence in zip(constraints, seen, strict=True):
        if isinstance(evidence, Timing):
            yield str(judge_in(look, evidence, constraint.limit))


def _unvouched(
    again: _Again, order: tuple[str, ...] | None, tested: int, *, is_known_here: bool
) -> Iterator[str]:
    """Yield the claims beyond computation here; `tested` stops of the model were tested again."""
    certificate = again.certificate
    yield f"the time at which it was made ({certificate.time})"
    left = certificate.position - 1 - tested
    if left > 0:
        others = "another one" if left == 1 else f"{left} others"
        yield f"that {others} before it in the order passed: no such model was kept"
    if order is None:
        yield f"the order of the test: {_why_no_order(again)}"
    if not again.evaluations:
        yield "the pipeline as text, its place in that order and its price, for the same reason"
    if not is_known_here:
        yield (
            f"that it is look {certificate.look} at these data: no ledger on this machine knows of "
            "it"
        )
    if again.whole is None:
        yield "that the search had none of these rows: give all the data to have that compared"
        if again.run.aside.tested is not None:
            yield "which rows were tested: they were drawn by the weights and groups of all data"
    if any(constraint.kind == "measured" for constraint in again.constraints):
        yield "what was timed or measured in the run: its record was judged again, not the calls"


def _why_no_order(again: _Again) -> str:
    if again.whole is None:
        return "it follows from all the data, and these are the rows set aside"
    if not again.evaluations:
        return "the log of its session is not in this folder, or was changed since"
    return "the run went on after the certificate was written"
