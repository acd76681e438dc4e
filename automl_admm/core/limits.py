"""A limit on the value of a constraint."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import say_value

ROUNDING = 1e-9  # a measure may miss its own extreme by this
# The mean of folds may miss a limit that it meets exactly by this share of it.
LAST_DIGITS = 1e-14
LEAST_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True)
class Limit:
    """A constraint g ≤ bound, or g ≥ bound if `at_least`.

    `extreme` is the best possible g, if known: a latency is never below 0, a recall never above 1.
    It bounds the slack u. A `confidence` is that of its certificate, None is that of the run.
    `has_six_digits` is for the text of an aim, which nobody claims.

    >>> Limit("size_mb", 5.0).holds(4.0)
    True
    """

    name: str
    bound: float
    at_least: bool = False
    extreme: float | None = None
    confidence: float | None = None
    has_six_digits: bool = field(default=False, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            said = say_value(self.name)
            raise ConfigurationError(f"the name of a limit must be a text, not {said}.")
        # Of NumPy's small floats the differences overflow; a Decimal has none with a float.
        for name in ("bound", "extreme", "confidence"):
            given = getattr(self, name)
            if given is not None or name == "bound":
                object.__setattr__(self, name, _as_float(f"the {name} of '{self.name}'", given))
        if not math.isfinite(self.bound):
            raise ConfigurationError(f"the limit '{self}' needs a finite number.")
        # The bound lies beyond anything possible.
        if self.room < 0:
            side = "above" if self.at_least else "below"
            reason = f"'{self.name}' is never {side} {self.extreme:g}."
            raise ConfigurationError(f"the limit '{self}' can never hold:", hint=reason)
        if self.confidence is not None and not LEAST_CONFIDENCE <= self.confidence < 1.0:
            raise ConfigurationError(
                f"the limit '{self}': a confidence must be in [{LEAST_CONFIDENCE:g}, 1).",
                hint="Write 99 % as '@ 0.99' or as '@ 99 %'.",
            )

    @property
    def room(self) -> float:
        """Largest possible slack, from the bound to the extreme."""
        if self.extreme is None:
            return math.inf
        return self.turned(self.bound) - self.turned(self.extreme)

    @property
    def declared(self) -> DeclaredRange:
        """Return the range known from the extreme alone."""
        return DeclaredRange(highest=self.extreme) if self.at_least else DeclaredRange(self.extreme)

    def turned(self, value: float) -> float:
        """Return the value turned so that smaller is better."""
        return -value if self.at_least else value

    def holds(self, value: float) -> bool:
        """Return True if the value is within the limit, but for rounding; NaN never is.

        >>> Limit("abstain", 0.3).holds(0.1 + 0.2)
        True
        """
        return self.excess(value) == 0.0

    def excess(self, value: float) -> float:
        """Return how far a value is outside, 0 within; NaN for NaN.

        >>> Limit("recall", 0.5, at_least=True).excess(0.25)
        0.25
        """
        beyond = self.turned(value) - self.turned(self.bound)
        # A comparison with NaN is False.
        return 0.0 if beyond <= LAST_DIGITS * abs(self.bound) else beyond

    @property
    def said_bound(self) -> str:
        """Return the bound with all digits that count: rounded it would be another limit."""
        short = f"{self.bound:g}"
        # 0.7 / 100 is 0.007 but for its last digit.
        is_read_again = math.isclose(float(short), self.bound, rel_tol=LAST_DIGITS)
        return short if is_read_again or self.has_six_digits else f"{self.bound:.15g}"

    def __str__(self) -> str:
        said = f"{self.name} {'>=' if self.at_least else '<='} {self.said_bound}"
        return said if self.confidence is None else f"{said} @ {self.confidence:.12g}"


def _as_float(what: str, given: object) -> float:
    """Return a number as a float; raise for anything else, truth values and texts included."""
    if not isinstance(given, bool) and isinstance(given, Real | Decimal):
        with suppress(ValueError, OverflowError):
            return float(given)
    raise ConfigurationError(f"{what} must be a number, not {say_value(given)}.")


@dataclass(frozen=True, slots=True)
class DeclaredRange:
    """The range that a constraint's author declares, and the provider; None is no end.

    >>> DeclaredRange(0.0, 1.0).misses(1.5)
    True
    """

    lowest: float | None = None
    highest: float | None = None
    provider: str = ""

    def misses(self, value: float) -> bool:
        """Return True if a value lies outside, by more than the noise of rounding."""
        is_low = self.lowest is not None and value < self.lowest - ROUNDING
        return is_low or (self.highest is not None and value > self.highest + ROUNDING)

    def fault(self, name: str, value: float, where: str = "") -> str | None:
        """Return the words on a value outside, which is a fault of the constraint's author."""
        if not self.misses(value):
            return None
        by = f" ({self.provider})" if self.provider else ""
        reason = f"it is {value:.10g}{where}, but declares {self}"
        return f"constraint '{name}'{by} is at fault: {reason}"

    def __str__(self) -> str:
        ends = [("lowest", self.lowest), ("highest", self.highest)]
        return ", ".join(f"{name}={end:g}" for name, end in ends if end is not None)
