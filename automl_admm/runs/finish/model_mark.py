"""The mark of a model whose `fit` ended with exit code 4, 5 or 6, by its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automl_admm.core.evaluations import ONE_CLASS
from automl_admm.core.run import FallbackKind


def tell_mark(manifest: Mapping[str, Any]) -> str | None:
    """Say in a line what is wrong with a model that was saved for want of a better one."""
    if (kind := manifest.get("fallback")) is not None:
        return _tell_fallback(kind, manifest.get("rows"))
    if (only := manifest.get(ONE_CLASS)) is not None:
        return f"the model gives every row the class '{only}': it tells nothing apart."
    if (reason := manifest.get("went_wrong")) is not None:
        return f"no sound model could be fitted, and the one that answers is none: {reason}."
    if manifest.get("certified"):
        return None
    if manifest.get("feasible") is False:
        return "the model is outside the limits of its run: nothing within them was found."
    was_asked = manifest.get("untested") or manifest.get("certificate_sha256")
    told = "the limits of the model are not certified, although its run asked for a certificate."
    return told if was_asked else None


def _tell_fallback(kind: str, rows: Any) -> str:
    if kind == FallbackKind.CONSTANT:
        told = "the model is a constant, which tells no rows apart"
        return f"{told}: no pipeline was evaluated and fitted in time. Give its run more time."
    return (
        f"the model is a makeshift one, fitted on {rows} rows: no other was evaluated and "
        "fitted in time. Give its run more time."
    )
