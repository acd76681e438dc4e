"""A box as a study of Optuna in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler
from optuna.storages import InMemoryStorage
from optuna.trial import Trial, TrialState, create_trial

from automl_admm.plugin_api import Array, AxisTree
from automl_admm_optuna.samplers import quiet


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A point's result for Optuna; without a value its trial is pruned.

    `excess` is the distance of the point outside of each limit, at most 0 inside. For a failure it
    is empty, or NaN for unknown limits.
    """

    point: Array
    value: float | None
    excess: tuple[float, ...]


class Trials:
    """The study of one box.

    A real number is searched on its axis [0, 1], log scale included; a whole number as such if it
    has at most `widest` places, else like a real one; a category without any order. A trial has the
    active axes of its point.
    """

    def __init__(self, tree: AxisTree, sampler: BaseSampler, widest: float) -> None:
        self._tree = tree
        self._widest = widest
        self.told = 0
        self._count = 0
        self._waiting: dict[bytes, int] = {}
        with quiet():
            self._study = optuna.create_study(storage=InMemoryStorage(), sampler=sampler)

    def tell(self, result: Result) -> None:
        """Add a finished trial with its constraints."""
        state = TrialState.PRUNED if result.value is None else TrialState.COMPLETE
        constraints = {f"limit{place:03d}": g for place, g in enumerate(result.excess)}
        self._add(result.point, state, result.value, constraints)
        self.told += 1

    def wait_for(self, points: Mapping[bytes, Array]) -> None:
        """Have exactly these points run: the samplers keep away from them."""
        for key in [key for key in self._waiting if key not in points]:
            self._study.tell(self._waiting.pop(key), state=TrialState.FAIL)
        for key, point in points.items():
            if key not in self._waiting:
                self._waiting[key] = self._count
                self._add(point, TrialState.RUNNING, None, {})

    def sample(self) -> Array:
        """The next point. Its trial is dropped: whoever wants the point evaluated waits for it."""
        with quiet():
            trial = self._study.ask()
            self._count += 1
            point = self._walk(trial)
            self._study.tell(trial, state=TrialState.FAIL)
        return self._tree.settle(point)

    def _walk(self, trial: Trial) -> Array:
        """Let the sampler choose the active axes, parents first."""
        point, axes = self._tree.resting(), list(self._tree.below())
        while axes:
            axis = axes.pop(0)
            parameter, name = self._tree.parameter(axis), _name(axis)
            if parameter.is_category:
                place = trial.suggest_categorical(name, range(self._tree.places(axis)))
                point[axis] = parameter.to_unit(parameter.low + place)
                axes.extend(self._tree.below(axis, place))
            elif self._is_whole(axis):
                low, high = int(parameter.low), int(parameter.high)
                number = trial.suggest_int(name, low, high, log=parameter.log)
                point[axis] = parameter.to_unit(number)
            else:
                point[axis] = parameter.project(trial.suggest_float(name, 0.0, 1.0))
        return point

    def _is_whole(self, axis: int) -> bool:
        """Return True if Optuna knows an axis as whole numbers."""
        return self._tree.parameter(axis).is_integer and self._tree.places(axis) <= self._widest

    def _add(
        self,
        point: Array,
        state: TrialState,
        value: float | None,
        constraints: dict[str, float],
    ) -> None:
        axes = self._tree.counting(point)
        self._study.add_trial(
            create_trial(
                state=state,
                value=value,
                params={_name(axis): self._value(axis, point[axis]) for axis in axes},
                distributions={_name(axis): self._distribution(axis) for axis in axes},
                constraints=constraints,
            )
        )
        self._count += 1

    def _value(self, axis: int, unit: float) -> int | float:
        """Return Optuna's value of a place on an axis: for a category its position."""
        parameter = self._tree.parameter(axis)
        if parameter.is_category:
            return self._tree.whole(axis, unit) - int(parameter.low)
        return self._tree.whole(axis, unit) if self._is_whole(axis) else parameter.project(unit)

    def _distribution(self, axis: int) -> BaseDistribution:
        parameter = self._tree.parameter(axis)
        if parameter.is_category:
            return CategoricalDistribution(range(self._tree.places(axis)))
        if self._is_whole(axis):
            return IntDistribution(int(parameter.low), int(parameter.high), log=parameter.log)
        return FloatDistribution(0.0, 1.0)


def _name(axis: int) -> str:
    """The name of an axis; Optuna sorts by names."""
    return f"x{axis:05d}"
