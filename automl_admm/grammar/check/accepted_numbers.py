"""Valid numbers for an argument, by the declared constraints of scikit-learn estimators."""

from __future__ import annotations

from typing import Any

from automl_admm.core.space import Value
from automl_admm.plugins.records import ComponentPlugin


def why_refused(plugin: ComponentPlugin, name: str, value: Value) -> str | None:
    """Describe the values accepted by scikit-learn; None if it accepts this one, or is unknown.

    A factory names with `class_taking` the class to get a parameter unchanged. Without it nothing
    is known: a check builds no component of a plugin.
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
    # Hidden ones are accepted for old code, and documented nowhere.
    return " or ".join(str(one) for one in constraints if not one.hidden)
