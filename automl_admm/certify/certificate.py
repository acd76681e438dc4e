"""The certificate: what was found, on which rows, of which model; written and read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from automl_admm.certify.verdicts import Finding, Verdict, all_certified
from automl_admm.errors import StoreError
from automl_admm.store.folder import write_json

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Certificate:
    """One model, the rows it was tested on, and a finding for every limit.

    `risk` is what all looks at these rows may spend together, `risk_spent` what this one did.
    `order` has the contenders of the walk by name, of which this is the one at `position`, from 1.
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

    @property
    def is_certified(self) -> bool:
        """Whether all limits may be claimed at once."""
        return all_certified(self.findings)

    @property
    def is_approximate(self) -> bool:
        """Whether any of the findings rests on an approximate bound."""
        return any(finding.is_approximate for finding in self.findings)


def write_certificate(path: Path, certificate: Certificate) -> None:
    """Write it as JSON, atomically; what is no finite number becomes null."""
    write_json(path, {"schema": SCHEMA, **_without_nan(asdict(certificate))})


def read_certificate(path: Path) -> Certificate:
    """Read what `write_certificate` wrote; anything else is a clear error."""
    try:
        return _certificate_from(json.loads(path.read_text(encoding="utf-8")))
    except KeyError as problem:
        raise _unreadable(path, f"it has no {problem}") from problem
    except (OSError, ValueError, TypeError, AttributeError) as problem:
        raise _unreadable(path, str(problem)) from problem


def _unreadable(path: Path, reason: str) -> StoreError:
    hint = "Name the certificate.json of a run folder."
    return StoreError(f"'{path}' is no certificate: {reason}.", hint=hint)


def _without_nan(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {key: _without_nan(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_without_nan(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _certificate_from(content: Mapping[str, Any]) -> Certificate:
    if content["schema"] != SCHEMA:
        raise ValueError(f"its schema is {content['schema']}, and {SCHEMA} is what can be read")
    return Certificate(
        model_sha256=str(content["model_sha256"]),
        rows_sha256=str(content["rows_sha256"]),
        rows=int(content["rows"]),
        pipeline=str(content["pipeline"]),
        findings=tuple(_finding_from(finding) for finding in content["findings"]),
        risk=float(content["risk"]),
        risk_spent=float(content["risk_spent"]),
        look=int(content["look"]),
        order=tuple(map(str, content["order"])),
        position=int(content["position"]),
        versions={str(name): str(version) for name, version in content["versions"].items()},
        time=str(content["time"]),
    )


def _finding_from(content: Mapping[str, Any]) -> Finding:
    rows_needed = content["rows_needed"]
    return Finding(
        limit=str(content["limit"]),
        value=_number(content["value"]),
        bound=_number(content["bound"]),
        verdict=Verdict(content["verdict"]),
        method=str(content["method"]),
        is_approximate=bool(content["is_approximate"]),
        counts={str(cell): int(rows) for cell, rows in content["counts"].items()},
        rows_needed=None if rows_needed is None else int(rows_needed),
        reason=str(content["reason"]),
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
