"""Settings that an estimator takes over from the run that it goes on with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.runs.config import RunConfig
from automl_admm.runs.validation import seed_of
from automl_admm.store.run_folder import RunFolder


def asked_before(config: RunConfig) -> dict[str, Any]:
    """Return the request of the run that this one goes on with; empty for a new one."""
    before = config.run_before()
    return {} if before is None else dict(before["request"])


def seed_to_use(random_state: Any, before: str | Path | None) -> int:
    """Return the seed that a user gives as a number; else that of the run `before`, if any."""
    seed = seed_of(random_state)
    if before is None or isinstance(random_state, int | np.integer):
        return seed
    folder = RunFolder(Path(before))
    return int(folder.read(folder.settings)["settings"]["seed"])
