"""The schema of all that a report shows of run.json, beyond those of other commands.

A missing key is not known; one of another type is damage, told in one line.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from automl_admm.core.errors import StoreError
from automl_admm.store.file_schemas import TASK
from automl_admm.store.json_content import (
    RESTORE,
    MismatchError,
    flag,
    list_of,
    mapping_of,
    nullable,
    one_of,
    real,
    record,
    text,
    whole,
)

_SECONDS = mapping_of(real)
_RUN = record(
    {},
    {
        "state": one_of("running", "stopped", "done"),
        "written": text,
        "title": text,
        "versions": mapping_of(text),
        "plugins": mapping_of(text),
        "portfolio": record({}, {"pipelines": list_of(text)}),
        "priors": nullable(
            record(
                {"tables": whole(), "learned": text, "alternatives": whole(), "settings": whole()},
                {},
            )
        ),
        "result": record(
            {},
            {
                "feasible": flag,
                "fallback": nullable(text),
                "stopped_by": text,
                "seconds": real,
                "ledger": _SECONDS,
                "work": _SECONDS,
            },
        ),
        "settings": record(
            {},
            {
                "task": TASK,
                "strategy": text,
                "theta_solver": text,
                "z_solver": text,
                "executor": text,
            },
        ),
    },
)


def demand_shown(content: Mapping[str, Any], path: Path) -> None:
    """Raise the error of a damaged file unless what a report shows of run.json is sound."""
    try:
        _RUN(content, "")
    except MismatchError as problem:
        raise StoreError(f"'{path}' is damaged: {problem}.", hint=RESTORE) from problem
