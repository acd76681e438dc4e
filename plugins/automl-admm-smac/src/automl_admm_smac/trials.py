"""SMAC's facades, set up so that they leave nothing behind and always do the same."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ConfigSpace import Configuration, ConfigurationSpace
from smac import BlackBoxFacade, HyperparameterOptimizationFacade, MultiFidelityFacade, Scenario
from smac.intensifier.hyperband_utils import determine_HB
from smac.main.config_selector import ConfigSelector
from smac.main.exceptions import ConfigurationSpaceExhaustedException
from smac.model.random_forest.random_forest import RandomForest
from smac.random_design import ProbabilityRandomDesign
from smac.runhistory import StatusType, TrialInfo, TrialValue

from automl_admm.plugin_api import Array, Observation
from automl_admm_smac.maximizer import SettledSearch
from automl_admm_smac.prices import LogEncoder, PlainEncoder, told_cost
from automl_admm_smac.quiet import quiet
from automl_admm_smac.terrain import Terrain

Model = Literal["forest", "process"]

# SMAC cuts an initial design to a quarter of its trials; in asking and telling nothing
# else hangs on their number, which the core counts.
PLENTY = 2**30
ENOUGH_TO_MODEL = 10
DRAWS = 256

# SMAC's forest sets aside memory for a million leaves a tree, of which it needs one a point: that
# takes most of the time of a proposal. The trees are the same with less.
LEAVES = 2**12
CHALLENGERS: dict[Model, int] = {"forest": 10_000, "process": 1_000}  # as in SMAC's facades


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a sub-problem's search; `lowest_fidelity` below 1 calls for Hyperband.

    `random` is the share of proposals drawn without the model; None leaves it to SMAC.
    """

    model: Model
    initial: int
    retrain_after: int
    lowest_fidelity: float
    random: float | None
    seed: int


class Trials:
    """SMAC's proposals for a box, and its observations."""

    def __init__(self, terrain: Terrain, plan: Plan) -> None:
        self._terrain = terrain
        self._space = terrain.space(plan.seed)
        self._lowest = plan.lowest_fidelity
        self._stages = _stages(plan.lowest_fidelity)
        self._asked: dict[bytes, Configuration] = {}
        self._seed = 0
        # SMAC writes its settings when it is built, and no more as long as nothing is saved.
        with tempfile.TemporaryDirectory(prefix="automl-admm-smac-") as folder, quiet():
            self._facade = _facade(self._space, plan, Path(folder), is_staged=bool(self._stages))
        if self._stages:
            self._begin_brackets()

    @property
    def is_staged(self) -> bool:
        """True if Hyperband asks, and waits for the results."""
        return bool(self._stages)

    def next(self) -> tuple[Array, float] | None:
        """Return the next point and its fidelity; None if SMAC has no more."""
        with quiet():
            try:
                configuration, fidelity = self._ask() if self._stages else (self._select(), 1.0)
            except (StopIteration, ConfigurationSpaceExhaustedException):
                return None
        point = self._terrain.point(configuration)
        self._asked[self._terrain.key(point)] = configuration
        return point, fidelity

    def draw(self, taken: Collection[bytes]) -> tuple[Array, float] | None:
        """Return a uniform point not taken yet, if a few hundred draws find one."""
        for _ in range(DRAWS):
            point = self._terrain.point(self._space.sample_configuration())
            if self._terrain.key(point) not in taken:
                return point, 1.0
        return None

    def tell(self, observation: Observation[Array]) -> None:
        """Tell the result of a point; failures get their price when the model is fitted."""
        point, failed = observation.point, observation.is_lost
        configuration = self._asked.get(self._terrain.key(point))
        if configuration is None:
            configuration = self._terrain.configuration(point, self._space)
        budget = min(self._stages, key=lambda each: abs(each - observation.fidelity), default=None)
        status = StatusType.CRASHED if failed else StatusType.SUCCESS
        with quiet():
            self._facade.tell(
                TrialInfo(configuration, seed=self._seed, budget=budget),
                TrialValue(cost=told_cost(observation.loss, failed=failed), status=status),
                save=False,
            )

    def _ask(self) -> tuple[Configuration, float]:
        info = self._facade.ask()
        self._seed = info.seed
        return info.config, max(float(info.budget), self._lowest)

    def _select(self) -> Configuration:
        """Ask the model without the intensifier.

        Where every evaluation is whole and certain there is nothing to intensify; the intensifier
        compares all configurations in pairs to find that out.
        """
        chosen: Configuration = next(self._facade.intensifier.config_generator)
        return chosen

    def _begin_brackets(self) -> None:
        """Have the first bracket begin with new configurations.

        What Hyperband finds in its history when it starts is raced from the lowest fidelity again,
        and it fails where that is less than a bracket. A bracket that is over spares that.
        """
        last = len(self._stages) - 1
        over = {"tracker": {f"0,{last}": [(0, [])]}, "next_bracket": 0}
        self._facade.intensifier.set_state(over)


def _stages(lowest: float) -> tuple[float, ...]:
    """The fidelities of Hyperband's longest bracket, lowest first; none where one would do."""
    stages = tuple(determine_HB(lowest, 1.0)["budgets_in_stage"][0])
    return stages if len(stages) > 1 else ()


def _enough(axes: int, lowest: float) -> int:
    """The evaluations of one fidelity that Hyperband's model waits for: d + 1, but not many.

    The first rung of the first bracket is always enough, so that the second bracket has a model.
    If it took more, a search down to a ninth would draw all configurations of its first round.
    """
    first_rung = int(determine_HB(lowest, 1.0)["n_configs_in_stage"][0][0])
    return min(axes + 1, ENOUGH_TO_MODEL, first_rung)


def _facade(space: ConfigurationSpace, plan: Plan, folder: Path, *, is_staged: bool) -> Any:
    """Return a facade with its output in a folder."""
    scenario = Scenario(
        space,
        output_directory=folder,
        deterministic=True,
        n_trials=PLENTY,
        min_budget=plan.lowest_fidelity if is_staged else None,
        max_budget=1.0 if is_staged else None,
        seed=plan.seed,
    )
    enough = _enough(len(space), plan.lowest_fidelity) if is_staged else 1
    sobol = HyperparameterOptimizationFacade.get_initial_design(scenario, n_configs=plan.initial)
    parts: dict[str, Any] = {
        "initial_design": sobol,
        "config_selector": ConfigSelector(
            scenario, retrain_after=plan.retrain_after, min_trials=enough
        ),
        "acquisition_maximizer": SettledSearch(
            space, challengers=CHALLENGERS[plan.model], seed=plan.seed
        ),
        "logging_level": False,
        "overwrite": True,
    }
    if plan.random is not None:
        parts["random_design"] = ProbabilityRandomDesign(plan.random, seed=plan.seed)
    if plan.model == "process":
        return BlackBoxFacade(scenario, runhistory_encoder=PlainEncoder(scenario), **parts)
    facade = MultiFidelityFacade if is_staged else HyperparameterOptimizationFacade
    parts["runhistory_encoder"] = LogEncoder(scenario)
    return facade(scenario, model=_forest(space, plan.seed), **parts)


def _forest(space: ConfigurationSpace, seed: int) -> RandomForest:
    """SMAC's own forest in one thread: its default starts a pool of them for every prediction."""
    return RandomForest(
        configspace=space,
        log_y=True,
        n_trees=10,
        ratio_features=1.0,
        min_samples_split=2,
        min_samples_leaf=1,
        max_leaf_nodes=LEAVES,
        seed=seed,
        n_jobs=1,
    )
