"""The settings of ADMM."""

from __future__ import annotations

from dataclasses import dataclass, field

from automl_admm.search.admm.schedule import Precision

# Within these the squares of a penalty, and of its quotient by another, are finite.
LEAST_PENALTY, MOST_PENALTY = 1e-20, 1e20


def check_penalty(name: str, value: float) -> None:
    """Raise unless the weight of a quadratic term can be computed with.

    >>> check_penalty("rho", 1.0)
    """
    if not LEAST_PENALTY <= value <= MOST_PENALTY:
        raise ValueError(f"{name} must be a number from {LEAST_PENALTY:g} to {MOST_PENALTY:g}")


@dataclass(frozen=True, slots=True)
class AdmmSettings:
    """The penalty ρ, the precision of the sub-problems, and the rules for stopping.

    `dual_cap` bounds the multipliers. `patience` is a number of outer iterations in a row without a
    new evaluation, excursions not counted: after so many the space counts as used up. The papers
    know no `drought` and no `excursions`, and their penalty does not fade.
    """

    rho: float = 1.0
    precision: Precision = field(default_factory=Precision)
    max_iterations: int | None = None
    patience: int = 5
    dual_cap: float = 100.0
    drought: bool = True
    excursions: bool = True
    fades: bool = True

    def integer_rho(self, iteration: int) -> float:
        """Return ρ_t = ρ / (1 + t), the penalty of ‖θ̃ᵈ − δ‖² in iteration t.

        f̃ is evaluated at the projection of θ̃ᵈ, so pipelines are always trained with whole numbers
        and the term is merely proximal: it keeps integers near their last values. With a constant ρ
        they move less and less as the search converges, because its gains shrink and ρ does not.
        The steps 1/ρ_t of a proximal point method may grow (Rockafellar 1976). If it does not fade,
        as in the papers, it is ρ.
        """
        return self.rho / (1.0 + iteration) if self.fades else self.rho
