"""Evidence as JSON, and files of a child, verified by their hash.

The parent loads numbers and text only, no pickles: nothing may run code of a component. The hash of
a file comes with the result of its task, not with the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.core.evidence import (
    F1,
    Average,
    Calibration,
    Estimate,
    Evidence,
    Explained,
    Fact,
    Gap,
    Largest,
    Mean,
    Quantile,
    RankCorrelation,
    Ranking,
    Rate,
    Ratio,
    RootMeanSquare,
    Smallest,
    Timing,
    Weighted,
)
from automl_admm.core.plain_evidence import in_plain_numbers
from automl_admm.core.protocols import Finished
from automl_admm.execution.task_folders import read_regular

KINDS: tuple[type[Any], ...] = (
    *(Fact, Estimate, Rate, F1, Mean, Ranking, Timing),
    *(Gap, Ratio, Largest, Smallest, Average, Weighted),
    *(Quantile, RootMeanSquare, Explained, Calibration, RankCorrelation),
)
BY_NAME = {kind.__name__: kind for kind in KINDS}
FILES = "files"


def encode_evidence(seen: Sequence[Evidence]) -> bytes:
    """Write evidence as JSON; of an unknown kind only the value is kept."""
    return json.dumps([_encoded(evidence) for evidence in seen]).encode()


def decode_evidence(content: bytes) -> list[Evidence]:
    """Read evidence written by `encode_evidence`."""
    return [_decoded(item) for item in json.loads(content)]


def hash_files(paths: Sequence[Path]) -> dict[str, str]:
    """The hashes of files by name, to be told in a result."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def read_told(finished: Finished, name: str) -> bytes | None:
    """Return the content of a file reported by a task; None if it reported none.

    Raise if the file is another one now, or gone.
    """
    told = dict(finished.result.get(FILES, {})).get(name)
    if told is None or finished.folder is None:
        return None
    path = finished.folder / name
    try:
        content = read_regular(path)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise AutomlAdmmError(f"'{path}' of the final fit cannot be read: {reason}.") from problem
    if hashlib.sha256(content).hexdigest() != told:
        raise AutomlAdmmError(f"'{path}' is not the file that the final fit wrote.")
    return content


def _encoded(evidence: Evidence) -> dict[str, Any]:
    kind = next((kind for kind in KINDS if isinstance(evidence, kind)), None)
    if kind is None:
        # A plugin's class would need its code to be loaded in the parent.
        return _encoded(Estimate(float(evidence.value)))
    values = {item.name: _plain(getattr(evidence, item.name)) for item in fields(kind)}
    return {"kind": kind.__name__, **values}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _encoded(part) for name, part in value.items()}
    if np.ndim(value):
        return np.asarray(value, dtype=float).tolist()
    if isinstance(value, bool):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _decoded(item: Mapping[str, Any]) -> Evidence:
    values = {name: _read(value) for name, value in item.items() if name != "kind"}
    # Of a class of a plugin the numbers may be of other types.
    return in_plain_numbers(BY_NAME[item["kind"]](**values))


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _decoded(part) for name, part in value.items()}
    return np.array(value, dtype=float) if isinstance(value, list) else value
