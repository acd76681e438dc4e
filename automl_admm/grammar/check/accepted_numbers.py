"""Numbers that scikit-learn takes for an argument, by the constraints its estimators declare."""

from __future__ import annotations

from typing import Any

from automl_admm.core.space import Value
from automl_admm.plugins.records import ComponentPlugin


def why_refused(plugin: ComponentPlugin, name: str, value: Value) -> str | None:
    """Return what scikit-learn takes instead of a value; None where it takes it, or is not asked.

    A factory says with `class_taking` which class gets a parameter as it is. Without that nothing
    is known: what a plugin builds is not built for a check.
    """
    class_taking = getattr(plugin.factory, "class_taking", None)
    taking = None if class_taking is None else class_taking(name, value)
    declared: Any = getattr(taking, "_parameter_constraints", {}).get(name)
    if not isinstance(declared, list):
        return None
    try:  # a private module of scikit-learn: without it fits refuse the value, as ever
        from sklearn.utils._param_validation import make_constraint
    except ImportError:
        return None
    constraints = [make_constraint(one) for one in declared]
    if any(one.is_satisfied_by(value) for one in constraints):
        return None
    return " or ".join(str(one) for one in constraints if not one.hidden)
