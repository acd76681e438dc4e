"""The limits: measured value, bound, certificate, and the price of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from automl_admm.certify.certificate import Certificate
from automl_admm.certify.claims import LOOKS_COUNTED
from automl_admm.certify.walk.findings import Finding
from automl_admm.core.limits import Limit
from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, Part, name, tag, together
from automl_admm.report.document.tables import facts, folded, table
from automl_admm.report.sections.section import Section
from automl_admm.report.shipped import Shipped, named, shipped_of
from automl_admm.report.view import RunView
from automl_admm.runs.finish.limit_prices import Price, binding, price_limits


@dataclass(frozen=True, slots=True)
class Proof:
    """The finding of the certificate for a limit; `bound` decided the verdict."""

    verdict: str
    value: float | None
    bound: float | None
    method: str
    is_approximate: bool
    counts: dict[str, int]
    rows_needed: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class LimitFound:
    """One limit: the model's value on validation and held-out rows, its proof, and the search's.

    The first value `is_of_shipped` where it was measured on the model that ships. A model with one
    class for all rows `holds` no limit, whatever its value. `kept` of `measured` evaluations hold
    it. At the bound `relaxed` the best score within all limits would have been higher by `gain`;
    None if nothing is within them either way.
    """

    limit: str
    bound: float
    at_least: bool
    value: float | None
    is_of_shipped: bool
    holds: bool | None
    held_out: float | None
    holds_held_out: bool | None
    proof: Proof | None
    kept: int
    measured: int
    relaxed: float
    gain: float | None


@dataclass(frozen=True, slots=True)
class CertificatePrice:
    """The utility of the certified decisions on validation rows, and that without a certificate."""

    utility: str
    certified: float
    without: float


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits, the one that binds most, and the frame of the certificate, if there is one.

    Before the run `has_model`, the values are those of the best evaluation so far. If a certificate
    was asked for, a model without one is not certified, and `untested` is the reason if no limit of
    it was tested. `one_class` is the class that the model gives to all rows, if it is only one.
    """

    limits: tuple[LimitFound, ...]
    has_model: bool
    binding: str | None
    metric: str
    confidence_asked: float | None
    one_class: str | None
    is_certified: bool | None
    untested: str | None
    confidence: float | None
    risk_of_look: float | None
    look: int | None
    rows: int | None
    rows_tested: int | None
    time: str | None
    certificate_price: CertificatePrice | None


def measure(view: RunView) -> Limits:
    """Gather the values, the proofs and the prices of the limits."""
    model, certificate = shipped_of(view), view.certificate
    prices = price_limits(view.evaluations, view.limits)
    tightest = binding(prices)
    findings = {} if certificate is None else {one.limit: one for one in certificate.findings}
    nothing = (None,) * len(view.limits)
    values = nothing if model is None else model.values or nothing
    held_out = nothing if model is None else model.held_out_values or nothing
    found = [
        _limit(limit, model, pair, findings.get(str(limit)), price)
        for limit, pair, price in zip(
            view.limits, zip(values, held_out, strict=True), prices, strict=True
        )
    ]
    asked = view.settings.get("certify")
    return Limits(
        limits=tuple(found),
        has_model=view.manifest is not None,
        binding=None if tightest is None else str(tightest.limit),
        metric=view.metric,
        confidence_asked=asked,
        one_class=None if model is None else model.one_class,
        is_certified=view.is_certified,
        untested=view.untested,
        confidence=None if certificate is None else 1.0 - certificate.whole_risk,
        risk_of_look=None if certificate is None else certificate.risk_spent,
        look=None if certificate is None else certificate.look,
        rows=None if certificate is None else certificate.rows,
        rows_tested=None if certificate is None else certificate.tested,
        time=None if certificate is None else certificate.time,
        certificate_price=None if certificate is None else _price_of(certificate),
    )


def _price_of(certificate: Certificate) -> CertificatePrice | None:
    price = certificate.price
    if price is None:
        return None
    return CertificatePrice(price.utility, price.certified, price.without)


def _limit(
    limit: Limit,
    model: Shipped | None,
    values: tuple[float | None, float | None],
    finding: Finding | None,
    price: Price,
) -> LimitFound:
    value, held_out = values
    return LimitFound(
        limit=str(limit),
        bound=limit.bound,
        at_least=limit.at_least,
        value=value,
        is_of_shipped=model is not None and str(limit) in model.as_shipped,
        holds=None if model is None else model.holds(limit, value),
        held_out=held_out,
        holds_held_out=None if model is None else model.holds(limit, held_out),
        proof=None if finding is None else _proof(finding),
        kept=price.measured - price.broken,
        measured=price.measured,
        relaxed=price.relaxed.bound,
        gain=numbers.finite(price.gain),
    )


def _proof(finding: Finding) -> Proof:
    return Proof(
        verdict=finding.verdict.value,
        value=numbers.finite(finding.value),
        bound=numbers.finite(finding.bound),
        method=finding.method,
        is_approximate=finding.is_approximate,
        counts=dict(finding.counts),
        rows_needed=finding.rows_needed,
        reason=finding.reason,
    )


def draw(found: Limits) -> Markup:
    """Draw the limits, the certificate, and the prices."""
    if not found.limits:
        return tag(
            "p", 'The run has no limits. Give some with --constraint, such as "latency_us <= 50".'
        )
    rows = (
        (
            name(one.limit),
            say_value(one),
            _holds(one.holds),
            numbers.plain(one.held_out),
            _holds(one.holds_held_out),
            f"{one.kept} of {one.measured}",
        )
        for one in found.limits
    )
    headings = (
        *("Limit", f"{named(found.has_model).capitalize()} on validation rows"),
        *("Holds", "On rows held out", "Holds"),
        "Evaluations within",
    )
    vacuous = say_vacuous(named(found.has_model).capitalize(), found.one_class)
    return together(table(headings, rows), vacuous, _certificate(found), *_prices(found))


def say_value(found: LimitFound) -> str:
    """Return the value under "on validation rows", with a word where it was measured elsewhere."""
    told = numbers.plain(found.value)
    return f"{told} in the model that ships" if found.is_of_shipped else told


def say_vacuous(model: str, only: str | None) -> Markup | None:
    """Say that a model with one class for all rows is within no limit; None of another model."""
    if only is None:
        return None
    told = "it tells nothing apart, so it is within no limit, whatever its values."
    return tag("p", f"{model} calls every row '{only}': {told}")


def _holds(is_held: bool | None) -> Markup:  # noqa: FBT001 - it is a fact
    if is_held is None:
        return tag("span", "not measured", class_="fair")
    return tag("span", "yes", class_="good") if is_held else tag("span", "NO", class_="bad")


def _certificate(found: Limits) -> Markup:
    if found.look is None:
        reason = (
            "No certificate was asked for: a limit that holds on validation rows, by which the "
            "pipeline was chosen, may be broken on new ones. "
            "Search with --certify 0.95 for a proof."
        )
        if found.confidence_asked is not None:
            asked = numbers.confidence(found.confidence_asked)
            reason = f"A certificate at {asked} was asked for, and nothing has been tested so far."
            if found.is_certified is False:
                why = found.untested or "the folder holds no certificate of this model"
                reason = f"NOT CERTIFIED at {asked}. Nothing was tested: {why}."
        return together(tag("h3", "Certificate"), tag("p", reason))
    frame = facts(
        [
            ("Outcome", "CERTIFIED" if found.is_certified else "NOT CERTIFIED"),
            ("Confidence", f"{numbers.confidence(found.confidence)} over {LOOKS_COUNTED}"),
            ("This look", f"{found.look}, at {numbers.risk(found.risk_of_look)} of risk"),
            ("Rows", _rows(found)),
            ("Tested", found.time),
            ("Price", _said_price(found.certificate_price)),
        ]
    )
    headings = ("Limit", "Verdict", "Value", "Bound", "Rows needed", "Reason", "Method")
    rows = [_proof_row(one.limit, one.proof) for one in found.limits if one.proof is not None]
    counted = [
        (name(one.limit), name(cell), count)
        for one in found.limits
        if one.proof is not None
        for cell, count in one.proof.counts.items()
    ]
    counts = folded(
        "Rows and events behind the bounds",
        table(("Limit", "Counted", "Number"), counted, text_columns=2),
    )
    proofs = table(headings, rows, text_columns=2)
    return together(tag("h3", "Certificate"), frame, proofs, counts if counted else None)


def _said_price(price: CertificatePrice | None) -> str | None:
    if price is None:
        return None
    certified, without = (numbers.score(one) for one in (price.certified, price.without))
    return (
        f"{price.utility} {certified} at the certified decisions, {without} at the best ones "
        "within the limits on validation rows; both measured there"
    )


def _rows(found: Limits) -> str:
    if found.rows_tested is None:
        return f"{found.rows} set aside before the search"
    return f"{found.rows} set aside before the search, {found.rows_tested} of them counted"


def say_verdict(found: Finding | Proof) -> Markup:
    """Return the verdict on a limit in its colour, with a word if it is approximate."""
    verdict = str(found.verdict)
    look = {"certified": "good", "violated": "bad"}.get(verdict, "fair")
    return tag("span", f"{verdict}{' (approximate)' * found.is_approximate}", class_=look)


def _proof_row(limit: str, proof: Proof) -> tuple[Part, ...]:
    needed = "–" if proof.rows_needed is None else proof.rows_needed
    return (
        name(limit),
        say_verdict(proof),
        numbers.plain(proof.value),
        numbers.plain(proof.bound),
        needed,
        proof.reason,
        proof.method,
    )


def _prices(found: Limits) -> Iterator[Markup]:
    yield tag("h3", "Price of a limit")
    if found.binding is None:
        yield tag("p", "No limit binds: the values of every evaluation are inside all of them.")
        return
    said = together(name(found.binding), " binds most.")
    if all(one.gain is None for one in found.limits):
        yield tag("p", said, " Nothing is within all limits, not even with one step more room.")
    elif all(one.gain == 0.0 for one in found.limits):
        yield tag("p", "No limit costs score: with one step more room, the best is the same.")
    else:
        bought = " One step more room would have bought, among the evaluations made anyway:"
        yield tag("p", said, bought)
        rows = (
            (name(one.limit), numbers.plain(one.relaxed), numbers.signed(one.gain))
            for one in found.limits
        )
        yield table(("Limit", "With the bound", f"Gain of {found.metric}"), rows)
        hint = "A hint, no promise: a search with that bound would have looked elsewhere."
        yield tag("p", hint)


SECTION = Section("limits", "Limits", Limits, measure, draw)
