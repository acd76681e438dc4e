"""Limits checked before anything is trained; candidates they exclude are never evaluated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from automl_admm.core.errors import NoSuccessError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate

Cheap = Callable[[Candidate], float]


@dataclass(frozen=True, slots=True)
class Screen:
    """The limits of a search, and by name their functions computed without an evaluation."""

    limits: tuple[Limit, ...] = ()
    cheap: Mapping[str, Cheap] = field(default_factory=dict)

    def excluding(self, candidate: Candidate) -> tuple[float, ...] | None:
        """Return the known value of each limit, NaN if unknown; None unless one limit is broken."""
        if not self.cheap:
            return None
        known = tuple(self._value(limit, candidate) for limit in self.limits)
        return known if self.broken(known) else None

    def broken(self, known: Sequence[float]) -> list[Limit]:
        """Return the limits known to be broken."""
        pairs = zip(self.limits, known, strict=True)
        return [limit for limit, value in pairs if not math.isnan(value) and not limit.holds(value)]

    def report(self, refused: Sequence[Evaluation]) -> NoSuccessError:
        """Build the error for a search with every proposal excluded beforehand."""
        # A dictionary, not a set: the message names the limits in their order.
        broken = {str(limit): None for e in refused for limit in self.broken(e.constraints)}
        named = ", ".join(f"'{limit}'" for limit in broken)
        return NoSuccessError(
            f"nothing was evaluated: all {len(refused)} candidates that were proposed are excluded"
            f" beforehand by {named}.",
            hint="Widen the limit, or the space that is searched.",
        )

    def _value(self, limit: Limit, candidate: Candidate) -> float:
        function = self.cheap.get(limit.name)
        return math.nan if function is None else value_or_nan(function, candidate)


def value_or_nan(function: Cheap, candidate: Candidate) -> float:
    """Return the function's value; NaN if it raises: it is the user's, no fault of a solver."""
    try:
        return float(function(candidate))
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - it may raise anything
        return math.nan
