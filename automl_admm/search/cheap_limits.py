"""What a limit excludes before anything is trained, and so is never evaluated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from automl_admm.core.errors import NoSuccessError
from automl_admm.core.problem import Evaluation, Limit
from automl_admm.core.space import Candidate

Cheap = Callable[[Candidate], float]


@dataclass(frozen=True, slots=True)
class Screen:
    """The limits of a search, and the functions of those, by name, that need no evaluation."""

    limits: tuple[Limit, ...] = ()
    cheap: Mapping[str, Cheap] = field(default_factory=dict)

    def excluding(self, candidate: Candidate) -> tuple[float, ...] | None:
        """What is known of each limit, NaN if nothing is; None unless one of them is not kept."""
        if not self.cheap:
            return None
        known = tuple(self._value(limit, candidate) for limit in self.limits)
        return known if self.broken(known) else None

    def broken(self, known: Sequence[float]) -> list[Limit]:
        """The limits that are known not to be kept."""
        pairs = zip(self.limits, known, strict=True)
        return [limit for limit, value in pairs if not math.isnan(value) and not limit.holds(value)]

    def report(self, refused: Sequence[Evaluation]) -> NoSuccessError:
        """Why nothing was evaluated, if all that was proposed is excluded."""
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
    """The value, NaN where the function fails: it is the user's, and no fault of a solver."""
    try:
        return float(function(candidate))
    except Exception:  # noqa: BLE001 - it may raise anything
        return math.nan
