"""A black box of one's own: the lightest beam that does not bend more than 5 mm.

Nothing here is machine learning. The space has a choice, an order, integers and numbers; some of
them only exist for some choices. The objective returns the loss and what the limit is set on.
"""

import math

from automl_admm import Choice, Condition, Order, Parameter, SearchSpace, Study, minimize

DENSITY = {"steel": 7850.0, "aluminium": 2700.0, "oak": 700.0}  # kg/m³
STIFFNESS = {"steel": 210e9, "aluminium": 69e9, "oak": 11e9}  # Pa
LENGTH, LOAD = 2.0, 800.0  # m, N

space = SearchSpace(
    decisions=(
        Choice("material", ("steel", "aluminium", "oak")),
        Choice("section", ("solid", "tube")),
        Order("coats", ("primer", "paint", "wax")),
    ),
    parameters=(
        Parameter("diameter_mm", 10, 120, log=True),
        Parameter("wall_mm", 1, 8, kind="int", when=Condition("section", ("tube",))),
        Parameter("layers", 1, 4, kind="int"),
    ),
)


def build(values: dict) -> dict[str, float]:
    """The weight of a beam as its loss, and how far it bends."""
    outer = values["diameter_mm"] / 1000
    inner = max(outer - 2 * values.get("wall_mm", math.inf) / 1000, 0.0)
    area = math.pi / 4 * (outer**2 - inner**2)
    inertia = math.pi / 64 * (outer**4 - inner**4)
    bend = LOAD * LENGTH**3 / (48 * STIFFNESS[values["material"]] * inertia)
    coat = 0.05 * values["layers"] * (1.0 if values["coats"][0] == "primer" else 1.5)
    return {"loss": DENSITY[values["material"]] * area * LENGTH + coat, "bend_mm": 1000 * bend}


result = minimize(build, space, constraints=["bend_mm <= 5"], max_evaluations=100, random_state=0)
print("beam:  ", result.best)
print(f"weight: {result.loss:.3f} kg")
print(f"bend:   {result.constraints['bend_mm']:.2f} mm, within the limit: {result.feasible}")

# The same search in a loop of one's own, which knows the first one's results.
study = Study(
    space, constraints=["bend_mm <= 5"], warm_start=result, max_evaluations=5, random_state=1
)
for trial in study:
    study.tell(trial, build(trial.values))
print(f"5 more: {study.best.loss:.3f} kg")
