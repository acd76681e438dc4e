"""The basis of a run's measurements: what must be equal for an evaluation to mean the same.

Each part is a digest in `run.json`, so that another run can tell which part differs.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from automl_admm.constraints.groups import Grouping
from automl_admm.core.limits import Limit
from automl_admm.data.fingerprints import hash_in_order
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.row_weighing import compares_groups
from automl_admm.plugins.distributions import required, version_of
from automl_admm.plugins.loading import Plugins
from automl_admm.plugins.records import Constraint
from automl_admm.runs.provenance import fingerprint, versions

if TYPE_CHECKING:
    from automl_admm.runs.prepare.preparation import Preparation

# Executors whose evaluations run on this machine: only there a cost can be compared.
HERE = ("local", "inline")


def basis_of(prepared: Preparation) -> dict[str, str | None]:
    """Return a digest of each part; None for a part that no other run can have."""
    work, config = prepared.work, prepared.config
    is_object = callable(config.scoring)
    aims = work.aims if work.chooses_thresholds else ()
    return {
        "rows": _of_rows(work.table),
        "columns": _digest(
            _types(work.table.X),
            work.context,
            *((work.context.ordered,) if work.context.ordered else ()),
            prepared.ingest.as_content(),
            work.origins,
            # A limit on it has the same name whatever columns cost.
            *(() if config.column_cost is None else (sorted(config.column_cost.items()),)),
        ),
        "classes": _of_classes(work.table.classes),
        "splits": _of_splits(work.splits),
        "seed": str(config.random_state),
        "software": hash_software(prepared.plugins),
        "components": None if config.extra_plugins else "",
        "metric": None if is_object else _digest(prepared.metric.name, prepared.metric.best),
        "thresholds": _digest(
            list(map(exact, aims)),
            config.group_thresholds,
            *(() if work.cost is None else (work.cost,)),
        ),
        "groups": _of_groups(prepared.constraints),
        "machine": _of_machine(config.executor, config.n_jobs),
    }


def exact(limit: Limit) -> tuple[str, str, bool]:
    """Return all that a limit is, with every digit of its bound."""
    return limit.name, repr(float(limit.bound)), limit.at_least


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _of_rows(table: Table) -> str:
    """Digest the cells of all rows in their order, also of columns that limits alone see."""
    digest = hashlib.sha256(fingerprint(table).encode())
    if table.sensitive is not None and table.sensitive.shape[1]:
        digest.update(repr([str(name) for name in table.sensitive]).encode())
        digest.update(hash_in_order(table.sensitive).tobytes())
        digest.update(repr(_types(table.sensitive)).encode())
    if table.roles.weights is not None:
        digest.update(np.asarray(table.roles.weights, dtype=float).tobytes())
    if table.classes is None:  # a hash of a number may stand for another number
        digest.update(np.asarray(table.y, dtype=float).tobytes())
    return digest.hexdigest()


def _of_groups(constraints: Iterable[Constraint]) -> str | None:
    """Digest the groups that weighers of rows are told, whatever the order of limits."""
    groups = [one.groups for one in constraints if compares_groups(one)]
    are_known = all(isinstance(one, Grouping) for one in groups)  # else one is somebody's function
    return _digest(sorted(map(repr, groups))) if are_known else None


def _types(X: Any) -> list[Any]:
    """Return the types of columns; categories in their order, which encoders may go by."""
    if not hasattr(X, "dtypes") or not hasattr(X, "columns"):
        return [str(getattr(X, "dtype", type(X))), X.shape[1:]]
    found: list[Any] = []
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        levels = getattr(dtype, "categories", None)
        more = None if levels is None else (list(map(repr, levels)), dtype.ordered)
        found.append((str(name), str(dtype), more))
    return found


def _of_classes(classes: Any) -> str:
    """Digest the labels with their types, the positive one last."""
    if classes is None:
        return ""
    plain = [one.item() if isinstance(one, np.generic) else one for one in classes]
    return _digest([(type(one).__name__, str(one)) for one in plain])


def _of_splits(splits: Iterable[tuple[Any, Any]]) -> str:
    digest = hashlib.sha256()
    for side in (rows for split in splits for rows in split):
        places = np.asarray(side, dtype=np.int64)
        digest.update(len(places).to_bytes(8, "little"))
        digest.update(places.tobytes())
    return digest.hexdigest()


def hash_software(plugins: Plugins) -> str:
    """Return a digest of the versions of libraries, of plugins, and of all that these rest on."""
    providers = sorted({info.name + " " + info.provider for info in plugins.infos})
    below = {name for info in plugins.infos for name in required(info.provider.split(" ")[0])}
    known = sorted((name, version_of(name)) for name in below)
    return _digest(sorted(versions().items()), providers, known, platform.machine())


def _of_machine(executor: str, workers: int) -> str | None:
    """Digest the machine and the load that a run puts on it; None where evaluations run elsewhere.

    Seconds and memory are comparable on one machine alone.
    """
    if executor.partition(":")[0] not in HERE:
        return None
    facts = [platform.node(), platform.machine(), os.cpu_count(), executor, workers]
    for path in ("/etc/machine-id", "/proc/cpuinfo"):
        with suppress(OSError):
            lines = Path(path).read_text("utf-8", "replace").splitlines()
            facts += [line for line in lines[:40] if path != "/proc/cpuinfo" or "model" in line]
    return _digest(*facts)
