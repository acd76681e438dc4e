"""Names taken without a record: scorers of scikit-learn, and comparisons by a known measure.

A metric or a limit may be any scorer of scikit-learn; `recall_gap` and `min_recall` compare groups
or classes by another limit. No plugin may take such a name.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata

from automl_admm.plugins.records import ConstraintPlugin
from automl_admm.plugins.registry import Registry

SCIKIT_LEARN = "scikit-learn"
WORST = ("min_", "max_")
MACRO = "macro_"
ENDINGS = ("", "_gap", "_ratio")


def taken_by(hook: str, name: str, constraints: Registry[ConstraintPlugin]) -> str | None:
    """Return the provider of the present meaning of a name without a record; None for a free name.

    `constraints` are the built-in ones: they keep their names in any case.
    """
    if hook not in ("metrics", "constraints"):
        return None
    if name in _scorers():
        return _scikit_learn()
    return _compared_by(name, constraints) if hook == "constraints" else None


def _compared_by(name: str, constraints: Registry[ConstraintPlugin]) -> str | None:
    """Return the provider of the measure compared by a limit of this name."""
    macro = name.removeprefix(MACRO)
    inner = [name.removeprefix(start) for start in WORST]
    for base in (one.removesuffix(end) for end in ENDINGS for one in (name, *inner, macro)):
        if base == name:
            continue
        if base in constraints and constraints.get(base).kind == "statistical":
            return constraints.provider(base)
        # scikit-learn's scorers have no mean over classes.
        if base in _scorers() and macro == name:
            return _scikit_learn()
    return _numbered_by(name, constraints)


def _numbered_by(name: str, constraints: Registry[ConstraintPlugin]) -> str | None:
    """Return the provider of a measure with a number at the end, as in rising_breaks_1000."""
    base, _, number = name.rpartition("_")
    is_numbered = number.isdecimal() and base in constraints
    if is_numbered and constraints.get(base).numbered is not None:
        return constraints.provider(base)
    return None


@cache
def _scorers() -> frozenset[str]:
    from sklearn.metrics import get_scorer_names

    return frozenset(get_scorer_names())


def _scikit_learn() -> str:
    return f"{SCIKIT_LEARN} {metadata.version(SCIKIT_LEARN)}"
