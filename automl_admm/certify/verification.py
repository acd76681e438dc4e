"""What a certificate claims in words, and whether it is still what the rows say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from automl_admm.certify.certificate import Certificate
from automl_admm.certify.verdicts import Finding

# Numbers are the same within a share of them, or within so much.
SAME = (1e-6, 1e-9)
# The size of a model that was saved and loaded is some bytes off: of a small one, more than 2 %.
SAME_FACT = (0.02, 2e-4)
WHAT_BREAKS_IT = (
    "It says nothing of data from another time, place or population, of rows that belong to a "
    "person who is also among the rows of the search, or of labels and groups that were recorded "
    "wrongly."
)


def verify(
    certificate: Certificate, model_sha256: str, rows_sha256: str, findings: Sequence[Finding]
) -> tuple[str, ...]:
    """What differs between a certificate and what was computed again, in sentences; empty if none.

    `findings` come from the same tests at the certificate's `risk_spent`. It is no new look.
    """
    found = [
        *_other_thing("model", certificate.model_sha256, model_sha256),
        *_other_thing("rows", certificate.rows_sha256, rows_sha256),
    ]
    again = {finding.limit: finding for finding in findings}
    for claimed in certificate.findings:
        if claimed.limit not in again:
            found.append(f"{claimed.limit} is in the certificate and was not tested again.")
        else:
            found.extend(_differences(claimed, again.pop(claimed.limit)))
    found.extend(f"{limit} is not in the certificate." for limit in again)
    return tuple(found)


def _other_thing(what: str, claimed: str, seen: str) -> Iterator[str]:
    if claimed != seen:
        which = "This is another model" if what == "model" else "These are other rows"
        yield f"{which}: the certificate is for {claimed[:12]}…, this is {seen[:12]}…."


def _differences(claimed: Finding, seen: Finding) -> Iterator[str]:
    """What differs of one limit; of calls, which take another time each time, the verdict alone."""
    if claimed.verdict is not seen.verdict:
        yield f"{claimed.limit}: the certificate says {claimed.verdict}, the rows {seen.verdict}."
    if any(cell.startswith("calls") for cell in claimed.counts):
        return
    if claimed.is_approximate is not seen.is_approximate or claimed.method != seen.method:
        yield f"{claimed.limit}: the bound was {claimed.method}, and now is {seen.method}."
    for cell in sorted(claimed.counts.keys() | seen.counts.keys()):
        rows, rows_now = claimed.counts.get(cell, 0), seen.counts.get(cell, 0)
        if rows != rows_now:
            yield f"{claimed.limit}: {cell} were {rows}, and are {rows_now}."
    numbers = {"value": (claimed.value, seen.value), "bound": (claimed.bound, seen.bound)}
    for what, (before, now) in numbers.items():
        if not _agree(before, now, *(SAME_FACT if claimed.method == "a fact" else SAME)):
            yield f"{claimed.limit}: the {what} was {before:.6g}, and is {now:.6g}."


def _agree(claimed: float, seen: float, share: float, amount: float) -> bool:
    """Whether two numbers are the same but for rounding; no finite number is like any such."""
    if not math.isfinite(claimed) or not math.isfinite(seen):
        return math.isfinite(claimed) == math.isfinite(seen)
    return math.isclose(claimed, seen, rel_tol=share, abs_tol=amount)


def explain(certificate: Certificate) -> str:
    """What the certificate claims, and what the claim rests on, a sentence a line."""
    lines = [_claim(finding, certificate.risk_spent) for finding in certificate.findings]
    lines.append(
        f"Rows: {certificate.rows}, set aside before the search, taken to be independent and drawn "
        f"like the data to come. {WHAT_BREAKS_IT}"
    )
    lines.append(
        f"This is look {certificate.look} at these rows; all looks at them together are wrong with "
        f"probability at most {_percent(certificate.risk)}, as far as they were counted."
    )
    return "\n".join(lines)


def _claim(finding: Finding, risk: float) -> str:
    """What one finding says: a certificate by how it could be wrong, all else by its verdict."""
    if not finding.is_certified or finding.method == "a fact":
        return f"{finding}."
    chance = "about" if finding.is_approximate else "at most"
    where = "data drawn like the certification rows (independent, same distribution)"
    if any(cell.startswith("calls") for cell in finding.counts):
        where = "calls like the timed ones, on the machine that timed them"
    note = f" The bound is approximate: {finding.method}." if finding.is_approximate else ""
    return (
        f"{finding.limit}: if this did not truly hold for this model, a certificate would have "
        f"been issued with probability {chance} {_percent(risk)}, for {where}.{note}"
    )


def _percent(risk: float) -> str:
    return f"{100 * risk:.3g} %"
