"""The wish to end a search early, from another thread or process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import say_error, say_value
from automl_admm.core.run import StopReason

logger = logging.getLogger(__name__)


class Flag(Protocol):
    """An event that another thread or process may set, such as `threading.Event`."""

    def is_set(self) -> bool:
        """Return True once it is set."""


Cancel = Flag | Callable[[], bool]


@dataclass(eq=False)
class Canceller:
    """An observer that ends a search once a question is answered by True.

    A question that fails is asked again: the flag may lie on a server.
    """

    is_wanted: Callable[[], bool]
    _has_failed: bool = field(default=False, init=False)

    def should_stop(self, evaluations: int, incumbent: Evaluation | None) -> StopReason | None:
        """Return the reason once the end is wanted."""
        del evaluations, incumbent
        try:
            return StopReason.CANCEL if self.is_wanted() else None
        except Exception as problem:  # noqa: BLE001 - a user's function may raise anything
            self._tell(problem)
            return None

    def _tell(self, problem: Exception) -> None:
        if not self._has_failed:
            told = "`cancel` failed and will be asked again (this is told once): %s"
            logger.warning(told, say_error(problem))
            self._has_failed = True


def cancellers(cancel: Any) -> tuple[Canceller, ...]:
    """Return the observer for an event or a function; none for None."""
    if cancel is None:
        return ()
    is_wanted = getattr(cancel, "is_set", cancel)
    if isinstance(cancel, type) or not callable(is_wanted):
        raise ConfigurationError(
            f"cancel must be an event or a function without arguments, not {say_value(cancel)}.",
            hint="Give a threading.Event().",
        )
    return (Canceller(is_wanted),)
