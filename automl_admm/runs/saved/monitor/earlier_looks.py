"""The looks at the model of a run, read from the files in its folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.core.errors import StoreError
from automl_admm.core.evidence import Evidence
from automl_admm.data.row_hashes import RowHashes
from automl_admm.execution.evidence_files import decode_evidence
from automl_admm.runs.saved.monitor.look_evidence import draw_again
from automl_admm.store.file_schemas import LARGEST_TOTAL
from automl_admm.store.run_folder import RunFolder

RESTORE = "Restore it: without it the count of looks, and so the risk, is not known."


@dataclass(frozen=True)
class EarlierLook:
    """An earlier look: the model it was about, hashes of its rows, and evidence by limit.

    `order` is the hash of its rows in their order, and `largest` the weight that they were drawn
    by, 0 without weights and groups.
    """

    number: int
    model: str
    hashes: RowHashes
    evidence: Mapping[str, Evidence]
    order: str
    largest: float

    def drawn_by(self, largest: float, seed: int) -> EarlierLook:
        """Return the look as if its rows had been drawn by a weight, which is no smaller."""
        if not largest:
            return self
        share = self.largest / largest
        return replace(self, evidence=draw_again(self.evidence, share, seed, self.number))

    def leaves_out(self, name: str) -> bool:
        """Return True if it had labelled rows, and kept nothing of a limit."""
        return len(self.hashes) > 0 and name not in self.evidence


def read_looks(folder: RunFolder) -> Iterator[EarlierLook]:
    """Read the looks in their order; raise if a file of one cannot be read."""
    for path in sorted(folder.monitoring.glob("look-*.json")):
        content = read_kept(path)
        try:
            names = list(content["evidence"])
            seen = decode_evidence(json.dumps(list(content["evidence"].values())).encode())
            result, hashes = content["result"], _hashes(content)
            evidence = dict(zip(names, seen, strict=True))
            yield EarlierLook(
                number=int(result["look"]),
                model=content["model_sha256"],
                hashes=hashes,
                evidence=evidence,
                order=str(content["written_order_sha256"]),
                largest=float(content[LARGEST_TOTAL]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
            raise unreadable(path, problem) from problem


def _hashes(content: Mapping[str, Any]) -> RowHashes:
    exact, *more = (
        np.array(content[name], dtype=np.uint64)
        for name in ("row_hashes", "canonical_hashes", "placed_hashes", "written_hashes")
    )
    if exact.ndim != 1 or any(one.shape != exact.shape for one in more):
        raise ValueError("its hashes are of different rows")
    return RowHashes(exact, *more)


def read_kept(path: Path, hint: str = RESTORE) -> dict[str, Any]:
    """Read a file kept by a look; raise with a hint if it cannot be read."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        content["schema_version"]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise unreadable(path, problem, hint) from problem
    return content


def unreadable(path: Path, problem: Exception, hint: str = RESTORE) -> StoreError:
    """Return the error of a file kept by a look that cannot be read."""
    return StoreError(f"'{path}' cannot be read: {problem}.", hint=hint)
