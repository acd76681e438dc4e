"""The certificate: its findings, rows and model; written and read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from automl_admm.certify.walk.findings import Finding, Verdict, all_certified
from automl_admm.core.errors import StoreError
from automl_admm.store.export import finite_only
from automl_admm.store.file_schemas import CERTIFICATE, CERTIFICATE_SCHEMA
from automl_admm.store.json_content import read_content
from automl_admm.store.run_folder import write_atomically


@dataclass(frozen=True, slots=True)
class Price:
    """The utility of the certified decisions, and that `without` a certificate.

    Both are of the same pipeline on the search's rows, out of fold; `without` is at its best
    thresholds within the limits there. An expected cost is better if smaller, all else if larger.
    """

    utility: str
    certified: float
    without: float

    def __str__(self) -> str:
        certified, without = f"{self.certified:.4f}", f"{self.without:.4f}"
        if certified == without:
            return f"{self.utility} {certified} with and without it (nothing was lost)"
        return f"{self.utility} {certified} instead of {without}"


@dataclass(frozen=True, slots=True)
class Certificate:
    """One model, the rows it was tested on, and a finding for every limit.

    `risk` is the budget of all looks at these rows, `risk_spent` the part of this look; a finding
    with a risk of its own is of a limit with a confidence of its own. `order`
    names the contenders of the walk; this model is at `position`, from 1. `data_sha256` is the hash
    of all the data in any order (looks are counted by it), `token` distinguishes the question of
    this walk from all others. With weights or groups only `tested` rows of those set aside count,
    drawn to be independent; None: all do. `price` is what the certificate takes from the decisions,
    None if they were not chosen for it.
    """

    model_sha256: str
    rows_sha256: str
    rows: int
    pipeline: str
    findings: tuple[Finding, ...]
    risk: float
    risk_spent: float
    look: int
    order: tuple[str, ...]
    position: int
    versions: Mapping[str, str] = field(default_factory=dict)
    time: str = ""
    data_sha256: str = ""
    token: str = ""
    tested: int | None = None
    price: Price | None = None
    is_last_look: bool = False

    @property
    def is_certified(self) -> bool:
        """True if all limits may be claimed at once."""
        return all_certified(self.findings)

    @property
    def whole_risk(self) -> float:
        """The risk of all looks that one of the limits is broken: the largest of any limit."""
        own = (finding.risk for finding in self.findings)
        spent = [self.risk_spent if risk is None else risk for risk in own]
        looks = self.look - self.is_last_look
        return max((risk * 2**looks for risk in spent), default=self.risk)

    @property
    def is_approximate(self) -> bool:
        """True if a finding rests on an approximate bound."""
        return any(finding.is_approximate for finding in self.findings)


def write_certificate(path: Path, certificate: Certificate) -> None:
    """Write the certificate as JSON, atomically; numbers that are not finite become null."""
    write_atomically(path, encode_certificate(certificate))


def encode_certificate(certificate: Certificate) -> bytes:
    """Return the content of its file."""
    content = {"schema": CERTIFICATE_SCHEMA, **finite_only(asdict(certificate))}
    for one, name in [
        *((content, name) for name in ("tested", "price", "is_last_look")),
        *((finding, "risk") for finding in content["findings"]),
    ]:
        if one[name] is None or one[name] is False:
            del one[name]
    return (json.dumps(content, indent=2) + "\n").encode()


def read_certificate(path: Path) -> Certificate:
    """Read a file of `write_certificate`; anything else is a clear error."""
    hint = "Name the certificate.json of a run folder, as the run wrote it."
    try:
        return _certificate_from(read_content(path, CERTIFICATE, hint))
    except FileNotFoundError:
        raise StoreError(f"there is no certificate '{path}'.", hint=hint) from None


def _certificate_from(content: Mapping[str, Any]) -> Certificate:
    return Certificate(
        model_sha256=content["model_sha256"],
        rows_sha256=content["rows_sha256"],
        rows=content["rows"],
        pipeline=content["pipeline"],
        findings=tuple(_finding_from(finding) for finding in content["findings"]),
        risk=float(content["risk"]),
        risk_spent=float(content["risk_spent"]),
        look=content["look"],
        order=tuple(content["order"]),
        position=content["position"],
        versions=dict(content["versions"]),
        time=content["time"],
        data_sha256=content["data_sha256"],
        token=content["token"],
        tested=content.get("tested"),
        price=_price_from(content.get("price")),
        is_last_look=content.get("is_last_look", False),
    )


def _price_from(content: Mapping[str, Any] | None) -> Price | None:
    if content is None:
        return None
    return Price(content["utility"], float(content["certified"]), float(content["without"]))


def _finding_from(content: Mapping[str, Any]) -> Finding:
    return Finding(
        limit=content["limit"],
        value=_number(content["value"]),
        bound=_number(content["bound"]),
        verdict=Verdict(content["verdict"]),
        method=content["method"],
        is_approximate=content["is_approximate"],
        counts=dict(content["counts"]),
        rows_needed=content["rows_needed"],
        reason=content["reason"],
        risk=content.get("risk"),
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
