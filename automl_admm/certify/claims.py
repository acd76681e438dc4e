"""The claims of a certificate in words, and their comparison with the rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from automl_admm.certify.certificate import Certificate
from automl_admm.certify.walk.findings import Finding
from automl_admm.core.percentages import percent_of_confidence, percent_of_risk

# Numbers are the same within a share of them, or within so much.
SAME = (1e-6, 1e-9)
NAMES = {
    "model_sha256": "model",
    "rows_sha256": "rows",
    "data_sha256": "data",
    "rows": "number of rows",
    "pipeline": "pipeline",
    "risk": "risk",
    "risk_spent": "risk that this look may spend",
    "look": "number of the look",
    "order": "order of the test",
    "position": "position in that order",
    "versions": "versions",
    "tested": "number of rows tested",
    "price": "price",
}
SHOWN_CHARACTERS = 40  # enough of a hash of 64 to tell two apart
WHAT_BREAKS_IT = (
    "It says nothing of data from another time, place or population, of rows that belong to a "
    "person who is also among the rows of the search, or of labels and groups that were recorded "
    "wrongly."
)
# A certificate knows the confidence of its own look alone, and the numbers of the others.
LOOKS_COUNTED = "all looks at these data, each at this confidence or a higher one"


def verify(
    certificate: Certificate, claims: Mapping[str, object], findings: Sequence[Finding]
) -> tuple[str, ...]:
    """Return the differences between a certificate and its recomputation; empty if none.

    `claims` has fields of the certificate as they follow from the model, the data and the log of
    the run. `findings` come from the same tests at the risk that follows. It is no new look.
    """
    found = [
        difference
        for name, again in claims.items()
        for difference in _other_claim(name, getattr(certificate, name), again)
    ]
    again = {finding.limit: finding for finding in findings}
    for claimed in certificate.findings:
        if claimed.limit not in again:
            found.append(f"{claimed.limit} is in the certificate and was not tested again.")
        else:
            found.extend(_differences(claimed, again.pop(claimed.limit)))
    found.extend(f"{limit} is not in the certificate." for limit in again)
    return tuple(found)


def _other_claim(name: str, claimed: object, again: object) -> Iterator[str]:
    if isinstance(claimed, float) and isinstance(again, float):
        is_same = _agree(claimed, again)
    else:
        is_same = claimed == again
    if is_same:
        return
    said, seen = (_shown(value) for value in (claimed, again))
    if name == "model_sha256":
        # Hashes have a sentence of their own: a user may have given the wrong file.
        yield f"This is another model: the certificate is for {said}, this is {seen}."
    elif name == "rows_sha256":
        yield f"These are other rows: the certificate is for {said}, these are {seen}."
    else:
        yield f"The {NAMES[name]}: the certificate says {said}, and it is {seen}."


def _shown(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _differences(claimed: Finding, seen: Finding) -> Iterator[str]:
    """Return the differences for one limit."""
    if claimed.verdict is not seen.verdict:
        yield f"{claimed.limit}: the certificate says {claimed.verdict}, the rows {seen.verdict}."
    if claimed.is_approximate is not seen.is_approximate or claimed.method != seen.method:
        yield f"{claimed.limit}: the bound was {claimed.method}, and now is {seen.method}."
    for cell in sorted(claimed.counts.keys() | seen.counts.keys()):
        rows, rows_now = claimed.counts.get(cell, 0), seen.counts.get(cell, 0)
        if rows != rows_now:
            yield f"{claimed.limit}: {cell} were {rows}, and are {rows_now}."
    numbers = {"value": (claimed.value, seen.value), "bound": (claimed.bound, seen.bound)}
    for what, (before, now) in numbers.items():
        if not _agree(before, now):
            yield f"{claimed.limit}: the {what} was {before:.6g}, and is {now:.6g}."
    risks = [math.nan if one.risk is None else one.risk for one in (claimed, seen)]
    if not _agree(*risks):
        yield f"{claimed.limit}: the certificate says another risk than its confidence leaves."
    if claimed.rows_needed != seen.rows_needed:
        yield (
            f"{claimed.limit}: the rows needed were {claimed.rows_needed}, "
            f"and are {seen.rows_needed}."
        )


def _agree(claimed: float, seen: float) -> bool:
    """Return True for equal numbers up to rounding; all numbers that are not finite are equal."""
    # The file has null for all of them, so they cannot be told apart after reading.
    if not math.isfinite(claimed) or not math.isfinite(seen):
        return math.isfinite(claimed) == math.isfinite(seen)
    return math.isclose(claimed, seen, rel_tol=SAME[0], abs_tol=SAME[1])


def explain(certificate: Certificate) -> str:
    """Return the claims of the certificate and their grounds, a sentence a line."""
    lines = _claims(certificate.findings, certificate.risk_spent)
    lines.append(
        f"Rows: {certificate.rows}, set aside before the search, taken to be independent and drawn "
        f"like the data to come. {WHAT_BREAKS_IT}"
    )
    if certificate.tested is not None:
        lines.append(explain_drawn(certificate.tested))
    if certificate.price is not None:
        lines.append(
            f"Price of the certificate, at the decision: {certificate.price}, both on the rows of "
            "the search. Neither number is proven."
        )
    last = ", and the last" if certificate.is_last_look else ""
    lines.append(
        f"This is look {certificate.look} at these rows{last}; all looks at them together, each at "
        "this confidence or a higher one, are wrong with probability at most "
        f"{percent_of_risk(certificate.whole_risk)}, as far as they were counted."
    )
    return "\n".join(lines)


def explain_drawn(tested: int) -> str:
    """Say that rows were drawn to be independent and to count alike, and the assumption of it."""
    return (
        f"Of these {tested} were tested, one row of a group at most, drawn in proportion to their "
        "weights: the claims are about data in which a row counts by its weight, and groups, not "
        "rows, are taken to be independent. No group to come (without groups: no row) is taken to "
        "weigh more than the heaviest of these data; a weight not given is 1."
    )


def explain_fresh(
    findings: Sequence[Finding], rows: int, risk: float, tested: int | None = None
) -> str:
    """Return the conclusions from rows unseen by the run, a sentence a line."""
    lines = _claims(findings, risk)
    lines.append(
        f"Rows: {rows}, none of which decided anything, taken to be independent and drawn like the "
        f"data to come. {WHAT_BREAKS_IT}"
    )
    if tested is not None:
        lines.append(explain_drawn(tested))
    lines.append(
        f"This is one look at these rows, at {percent_of_confidence(1.0 - risk)}. Looks at fresh "
        "rows are not counted: if you test other models on them, or other rows until some pass, "
        "the chance to be wrong adds up."
    )
    return "\n".join(lines)


def _claims(findings: Sequence[Finding], risk: float) -> list[str]:
    return [claim(one, risk if one.risk is None else one.risk) for one in findings]


def claim(finding: Finding, risk: float) -> str:
    """Say one finding: a certificate with its risk of error, all else with its verdict."""
    if not finding.is_certified or finding.method == "a fact":
        return f"{finding}."
    chance = "about" if finding.is_approximate else "at most"
    where = "data drawn like the certification rows (independent, same distribution)"
    # Only timings count calls; they say something of a machine, not of a population.
    if any(cell.startswith("calls") for cell in finding.counts):
        where = "calls like the timed ones, on the machine that timed them"
    note = f" The bound is approximate: {finding.method}." if finding.is_approximate else ""
    return (
        f"{finding.limit}: if this did not truly hold for this model, a certificate would have "
        f"been issued with probability {chance} {percent_of_risk(risk)}, for {where}.{note}"
    )
