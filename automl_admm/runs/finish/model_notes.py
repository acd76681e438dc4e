"""Lines to say of a model before it answers: a makeshift, or made by other versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from automl_admm.core.evaluations import ONE_CLASS
from automl_admm.core.run import FallbackKind
from automl_admm.plugins.distributions import version_of
from automl_admm.plugins.taken_names import SCIKIT_LEARN
from automl_admm.runs.provenance import LIBRARIES

PYTHON = "python"


def behind_model(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions of the plugins of a model and of the libraries below them, by name.

    The libraries of every model are left out.
    """
    known = manifest.get("versions", {})
    return {name: one for name, one in known.items() if name not in {PYTHON, *LIBRARIES}}


def tell_versions(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each distribution with another version here: parts may have changed."""
    fitted = str(manifest.get("versions", {}).get(SCIKIT_LEARN, ""))
    here = version_of(SCIKIT_LEARN)
    if fitted and _feature(fitted) != _feature(here):
        yield _line(SCIKIT_LEARN, fitted, here)
    for name, version in behind_model(manifest).items():
        if version != (here := version_of(name)):
            yield _line(name, version, here)


def _feature(version: str) -> list[str]:
    """Return the parts of a version of scikit-learn that may change what a model predicts."""
    return version.split(".")[:2]


def _line(name: str, fitted: str, here: str) -> str:
    found = f"this is {here}" if here else "it is not installed here"
    return (
        f"the model was fitted with {name} {fitted}, and {found}: it may predict otherwise. "
        "Fit again, or install that version."
    )


def tell_missing(manifest: Mapping[str, Any]) -> str | None:
    """Name the distributions of a model that are not installed; None if all are."""
    missing = [
        f"{name} {one}" for name, one in behind_model(manifest).items() if not version_of(name)
    ]
    if not missing:
        return None
    that_is, it = ("that is", "it") if len(missing) == 1 else ("they are", "them")
    return f"It needs {', '.join(missing)}, and here {that_is} not installed: install {it}."


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
