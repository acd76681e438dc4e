"""The parts of a run's basis with changes between its sessions.

Another seed, number of workers or version leaves a log valid: the run may go on with it. Another
run takes a number over only if all sessions measured alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.runs.prepare.basis import basis_of
from automl_admm.runs.prepare.preparation import Preparation

# The key of `run.json`.
MIXED = "mixed_basis"


def mixed_parts(
    before: Mapping[str, Any],
    prepared: Preparation,
    known: Sequence[Evaluation],
    *,
    is_decided_anew: bool,
) -> tuple[str, ...]:
    """Return the parts not known to be equal for all evaluations, old and new.

    Evaluations decided anew have the thresholds of now.
    """
    if not any(one.ok for one in known):
        return ()
    was, is_now = before["basis"], basis_of(prepared)
    changed = {part for part in is_now if was[part] != is_now[part]}
    alike = {"thresholds"} if is_decided_anew else set()
    return tuple(sorted({*before.get(MIXED, ()), *changed} - alike))
