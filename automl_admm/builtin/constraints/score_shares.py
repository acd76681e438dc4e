"""Records of limits on a share of rows that hangs on their scores and on no decision."""

from __future__ import annotations

from typing import Any

from automl_admm.plugins.records import ConstraintPlugin


def score_share(name: str, summary: str, **way: Any) -> ConstraintPlugin:
    """Return the record of such a limit, with the way in which it is measured."""
    return ConstraintPlugin(
        name=name,
        summary=summary,
        highest=1.0,
        kind="statistical",
        better="smaller",
        uses_decisions=False,
        **way,
    )
