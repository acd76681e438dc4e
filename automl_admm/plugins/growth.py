"""The promise of an estimator that a fit can go on: more trees or iterations in place of anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from automl_admm.core.errors import PluginError
from automl_admm.core.messages import say_value

Ask = Callable[[Any], bool]


def always(fitted: Any) -> bool:  # noqa: ARG001
    """Return True: every fit can go on."""
    return True


def never(fitted: Any) -> bool:  # noqa: ARG001
    """Return False: no fit stops early."""
    return False


@dataclass(frozen=True, slots=True)
class Growth:
    """The way in which a fitted estimator becomes a larger one, by scikit-learn's `warm_start`.

    A fit of 20 trees that goes on to 100 must give the model of a fit of 100 from the start, bit by
    bit: `fitted.set_params(n_estimators=100, warm_start=True).fit(X, y)`. Two functions of the
    fitted estimator say more. `may_grow` is False with settings that break this promise, such as
    rows drawn anew. `has_stopped` is True after early stopping: a larger fit would stop there, too,
    so that the fitted estimator already is the larger one.

    >>> Growth(has_stopped=lambda model: model.n_iter_ < model.max_iter).may_grow(None)
    True
    """

    may_grow: Ask = always
    has_stopped: Ask = never

    def __post_init__(self) -> None:
        for name in ("may_grow", "has_stopped"):
            if not callable(getattr(self, name)):
                given = say_value(getattr(self, name))
                raise PluginError(f"Growth: {name} must be a function of a model, not {given}.")

    def can_be_kept(self, fitted: Any) -> bool:
        """Return True if a larger fit can begin with this one."""
        return bool(self.has_stopped(fitted) or self.may_grow(fitted))
