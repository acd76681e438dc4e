"""The identity of a run: its versions, the hashes of its rows, the name of its search."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.data.canonical_rows import NOTHING_KNOWN, hash_canonically
from automl_admm.data.fingerprints import Hashes, fingerprint_rows, hash_rows, mix
from automl_admm.data.ingest.asking import DROP
from automl_admm.data.row_hashes import RowHashes
from automl_admm.data.row_roles import RoleColumns
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.plugins.distributions import version_of
from automl_admm.runs.config import RunConfig

# The name of the target in the hashes of rows.
TARGET = "target"
LIBRARIES = ("automl-admm", "numpy", "scipy", "pandas", "scikit-learn", "skops")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries behind a result."""
    return {"python": platform.python_version()} | {name: version_of(name) for name in LIBRARIES}


def machine() -> dict[str, str]:
    """Return the facts of this machine that calls hang on, without a name of it or of its owner."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count()
    return {
        "processor": _processor() or platform.processor() or "unknown",
        "architecture": platform.machine(),
        "cores": str(cores),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def _processor() -> str:
    """Return the name of the processor as Linux tells it, else nothing."""
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
        return next((x.partition(":")[2].strip() for x in text.splitlines() if "model n" in x), "")
    return ""


def tell_other_machine(known: Mapping[str, str]) -> tuple[str, ...]:
    """Return what differs between a machine and this one, a clause each; nothing if unknown."""
    here = machine()
    return tuple(
        f"{name}: {known[name]} in the run, {here[name]} here"
        for name in here
        if name in known and known[name] != here[name]
    )


def fingerprint(table: Table) -> str:
    """The hash of the rows of a table and their target."""
    digest = hashlib.sha256(repr(table.names).encode())
    digest.update(table.row_hashes.tobytes())
    digest.update(table.target_hashes.tobytes())
    if table.roles.hashes is not None:
        digest.update(table.roles.hashes.tobytes())
    return digest.hexdigest()


def sum_of_rows(table: Table) -> str:
    """Return the sum of a hash of each row with its target: the same in any order of the rows.

    The sum of two tables is that of both together.
    """
    found = mix(table.row_hashes, table.target_hashes)
    if table.roles.hashes is not None:
        found = mix(found, table.roles.hashes)
    return f"{int(found.sum(dtype=np.uint64)):016x}"


def count_repeated(table: Table) -> list[dict[str, int]]:
    """Count the distinct rows that stand twice in a table, three times and so on."""
    counts = np.unique(hash_table(table), return_counts=True)[1]
    pairs = zip(*np.unique(counts[counts > 1], return_counts=True), strict=True)
    return [{"times": int(times), "values": int(values)} for times, values in pairs]


def add_sums(first: str, second: str) -> str:
    """Return the sum of the rows of two tables together."""
    return f"{(int(first, 16) + int(second, 16)) % 2**64:016x}"


def fingerprint_data(table: Table) -> str:
    """Hash all that is known of all rows, whatever the order of rows and the role of columns."""
    return fingerprint_rows(hash_table(table))


def fingerprints_given(
    config: RunConfig, X: Any, y: Any, sensitive: Any, columns: RoleColumns
) -> tuple[str, str]:
    """Hash all rows as they were given, also those with a weight of 0: twice, to know them again.

    The first hash is of all but the weights. The second is of the features in use and the labels
    alone: the same under other groups, times and sensitive features.
    """
    import pandas as pd

    frame, kinds = pd.DataFrame(X), config.columns or {}
    names = list(map(str, frame.columns))
    dropped = {str(name) for name, kind in kinds.items() if kind == DROP}
    features = [frame.iloc[:, place] for place in range(frame.shape[1])]
    used = [one for name, one in zip(names, features, strict=True) if name not in dropped]
    apart = [] if sensitive is None else [sensitive[n] for n in sensitive if str(n) not in names]
    roles = [column for role, column in columns.known().items() if role != "weight"]
    return (
        fingerprint_rows(hash_rows([*features, *apart, *roles, y], len(frame))),
        fingerprint_rows(hash_rows([*used, y], len(frame))),
    )


def hash_table(table: Table) -> Hashes:
    """Return a number for each row: of its features, its label, and all columns apart."""
    found = hash_rows((column for _, column in _columns_of(table)), len(table.y))
    return found if table.roles.hashes is None else found + table.roles.hashes


def row_hashes_of(table: Table, narrow: Mapping[str, str] = NOTHING_KNOWN) -> RowHashes:
    """Return the numbers of each row: that of `hash_table`, and those for columns of any type.

    `narrow` are types in training by `feature_key` and `TARGET`.
    """
    found, roles = hash_canonically(_columns_of(table), len(table.y), narrow), table.roles
    of_roles = (roles.canonical, roles.placed, roles.written)
    sums = (one if more is None else one + more for one, more in zip(found, of_roles, strict=True))
    return RowHashes(hash_table(table), *sums)


def _columns_of(table: Table) -> list[tuple[str, Any]]:
    """Return the columns of a table, each with a name of its own, and the target."""
    import pandas as pd

    frame = pd.DataFrame(table.X)
    known = set(table.names)
    apart = [] if table.sensitive is None else [n for n in table.sensitive if str(n) not in known]
    features = ((feature_key(n), frame.iloc[:, at]) for at, n in enumerate(table.names))
    more = ((feature_key(name), table.sensitive[name]) for name in apart)
    return [*features, *more, (TARGET, table.labels())]


def feature_key(name: Any) -> str:
    """Return the name of a column in the hashes of rows, which no target has."""
    return f"column {name}"


def run_of(searched: str, seed: int) -> str:
    """Name a search by its parts: the hash of its rows and its seed."""
    return f"{searched} {seed}"
