"""A benchmark of optimizers: automl-admm beside Optuna and SMAC, on one function by one interface.

Each of the three is asked for a point and told its result. Nobody but this script calls the
function, and it notes every call, so all are measured alike. The function is a stand-in for
training a network: a choice, an integer, a number on a logarithmic scale, and a limit on
its weight.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from statistics import median
from tempfile import TemporaryDirectory

import optuna
from ConfigSpace import Categorical, ConfigurationSpace, Float, Integer
from smac import HyperparameterOptimizationFacade, Scenario
from smac.runhistory import TrialValue

from automl_admm import Choice, Parameter, SearchSpace, Study

# The best one is nobody's first guess, and the best rate is far from the middle of its range.
ACTIVATIONS = {"relu": 0.2, "tanh": 0.0, "sigmoid": 0.4}
EVALUATIONS, SEEDS, MOST_MB = 12, range(2), 6.0
Values = dict[str, object]
Objective = Callable[[Values], dict[str, float]]


def train(values: Values) -> dict[str, float]:
    """Return the loss of a network that nobody trains, and its weight."""
    rate, width = float(values["rate"]), int(values["width"])
    off = math.log10(rate / 2e-4) ** 2 / 4 + math.log2(96 / width) ** 2 / 20
    return {"loss": off + ACTIVATIONS[str(values["activation"])], "megabytes": width**2 / 1500}


def by_admm(objective: Objective, evaluations: int, seed: int) -> None:
    """Ask and tell, with the limit as a limit."""
    space = SearchSpace(
        decisions=(Choice("activation", tuple(ACTIVATIONS)),),
        parameters=(
            Parameter("rate", 1e-5, 1.0, log=True),
            Parameter("width", 8, 256, kind="int", log=True),
        ),
    )
    limits = [f"megabytes <= {MOST_MB}"]
    with Study(space, constraints=limits, max_evaluations=evaluations, random_state=seed) as study:
        for trial in study:
            study.tell(trial, objective(trial.values))


def by_optuna(objective: Objective, evaluations: int, seed: int) -> None:
    """Minimise with the limit as a constraint of the sampler."""
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    for _ in range(evaluations):
        trial = study.ask()
        found = objective(
            {
                "activation": trial.suggest_categorical("activation", list(ACTIVATIONS)),
                "rate": trial.suggest_float("rate", 1e-5, 1.0, log=True),
                "width": trial.suggest_int("width", 8, 256, log=True),
            }
        )
        trial.set_constraint("megabytes", found["megabytes"] - MOST_MB)
        study.tell(trial, found["loss"])


def by_smac(objective: Objective, evaluations: int, seed: int) -> None:
    """Minimise with a penalty: SMAC has no limits."""
    space = ConfigurationSpace(seed=seed)
    space.add(
        Categorical("activation", list(ACTIVATIONS)),
        Float("rate", (1e-5, 1.0), log=True),
        Integer("width", (8, 256), log=True),
    )

    with TemporaryDirectory() as folder:
        scenario = Scenario(
            space, deterministic=True, n_trials=evaluations, seed=seed, output_directory=folder
        )
        facade = HyperparameterOptimizationFacade(
            scenario, never_called, logging_level=logging.ERROR, overwrite=True
        )
        for _ in range(evaluations):
            trial = facade.ask()
            found = objective(dict(trial.config))
            cost = found["loss"] + max(found["megabytes"] - MOST_MB, 0.0)
            facade.tell(trial, TrialValue(cost=cost))


def never_called(config: object, seed: int = 0) -> float:
    """Stand where SMAC wants a function, though it is only asked and told."""
    raise AssertionError(config, seed)


def measure(optimizer: Callable[[Objective, int, int], None], seed: int) -> tuple[float, int]:
    """Return the best loss within the limit, and the number of calls that it took in all."""
    best, calls = math.inf, 0

    def noted(values: Values) -> dict[str, float]:
        nonlocal best, calls
        found = train(values)
        calls += 1
        if found["megabytes"] <= MOST_MB:
            best = min(best, found["loss"])
        return found

    optimizer(noted, EVALUATIONS, seed)
    return best, calls


def main() -> None:
    """Compare the optimizers, with the same number of calls for each."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    for optimizer in (by_admm, by_optuna, by_smac):
        found = [measure(optimizer, seed) for seed in SEEDS]
        losses = [loss for loss, _ in found]
        assert all(calls <= EVALUATIONS for _, calls in found)
        assert all(math.isfinite(loss) for loss in losses), "each finds something within the limit"
        print(f"{optimizer.__name__.removeprefix('by_'):<8} median loss {median(losses):.4f}")


if __name__ == "__main__":
    main()
