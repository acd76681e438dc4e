"""A run as SMAC's own files, for DeepCAVE and whatever else reads SMAC3."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ConfigSpace import (
    Categorical,
    Configuration,
    ConfigurationSpace,
    Constant,
    EqualsCondition,
    Float,
    InCondition,
    Integer,
)
from ConfigSpace.hyperparameters import Hyperparameter, UniformFloatHyperparameter
from smac import Scenario
from smac.runhistory import RunHistory, StatusType

from automl_admm.plugin_api import (
    Choice,
    ConfigurationError,
    Evaluation,
    Order,
    Parameter,
    SavedRun,
    SearchSpace,
    Status,
)
from automl_admm_smac.quiet import quiet

# Nothing was measured of the others: they were stopped from outside, or never begun.
STATUSES = {
    Status.SUCCESS: StatusType.SUCCESS,
    Status.TIMEOUT: StatusType.TIMEOUT,
    Status.MEMOUT: StatusType.MEMORYOUT,
    Status.CRASHED: StatusType.CRASHED,
    Status.ERROR: StatusType.CRASHED,
    Status.INVALID: StatusType.CRASHED,
}
# ConfigSpace keeps 13 decimals: from here on our six digits fit into them, and a million steps.
SMALLEST_LOW = 1e-8
SMALLEST_WIDTH = 1e-7
DECIMALS = 13
LARGEST_POWER = 300
# A larger number is infinite where ConfigSpace rounds it.
LARGEST_END = 1e290
# Says whose the folder is: that of a run of SMAC's own is never overwritten.
MARK = "automl-admm.txt"


def write_history(run: SavedRun, target: str) -> str:
    """Write a run below a folder as SMAC would, and return a line about it."""
    folder = _own_folder(run, Path(target))
    with quiet():
        scenario = _scenario(run, Path(target))
        history = _history(run, scenario.configspace)
        scenario.save()
        history.save(folder / "runhistory.json")
    (folder / MARK).write_text(_begun(run), encoding="utf-8")
    return f"{folder}: 1 trial" if len(history) == 1 else f"{folder}: {len(history)} trials"


def _own_folder(run: SavedRun, target: Path) -> Path:
    """Return the folder that SMAC would write to; raise if it is another run's."""
    folder = target / _name(run) / str(run.info.seed)
    mark = folder / MARK
    if folder.exists() and not (mark.exists() and mark.read_text(encoding="utf-8") == _begun(run)):
        raise ConfigurationError(
            f"'{folder}' holds something else than this run.", hint="Name another folder."
        )
    return folder


def _name(run: SavedRun) -> str:
    return run.info.title if run.info.folder is None else run.info.folder.resolve().name


def _begun(run: SavedRun) -> str:
    return str(run.content.get("sessions", [{}])[0].get("begun", ""))


def _scenario(run: SavedRun, target: Path) -> Scenario:
    shares = [_share(one) for one in run.log if one.ok]
    is_staged = any(share < 1.0 for share in shares)
    return Scenario(
        configuration_space(run.info.space),
        name=_name(run),
        output_directory=target,
        deterministic=True,
        objectives=list(_objectives(run)),
        n_trials=run.info.max_evaluations or max(len(run.log), 1),
        walltime_limit=run.info.budget_seconds or math.inf,
        min_budget=min(shares) if is_staged else None,
        max_budget=1.0 if is_staged else None,
        seed=run.info.seed,
        n_workers=run.info.workers,
    )


def _objectives(run: SavedRun) -> Iterator[str]:
    """Yield what is minimised: the loss, and each limit, turned so that smaller is better."""
    best = run.info.best_score
    yield run.info.loss_name if best is None else f"{best:g} - {run.info.loss_name}"
    yield from (f"-{one.name}" if one.at_least else one.name for one in run.info.limits)


def _history(run: SavedRun, space: ConfigurationSpace) -> RunHistory:
    history, clock = RunHistory(), 0.0
    is_staged = any(_share(one) < 1.0 for one in run.log if one.ok)
    for one in run.log:
        begun = clock if one.ended is None else one.ended - one.seconds
        clock += one.seconds
        if one.status in STATUSES:
            history.add(
                Configuration(space, values=_within(space, _values(run.info.space, one))),
                cost=_costs(run, one),
                time=one.seconds,
                status=STATUSES[one.status],
                seed=run.info.seed,
                budget=_share(one) if is_staged else None,
                starttime=begun,
                endtime=begun + one.seconds,
                additional_info=_facts(run, one),
            )
    return history


def _costs(run: SavedRun, evaluation: Evaluation) -> list[float]:
    """Return a cost an objective: infinite for a failure, as SMAC has it."""
    limits = run.info.limits
    if not evaluation.ok:
        return [math.inf] * (1 + len(limits))
    pairs = zip(limits, evaluation.constraints, strict=True)
    costs = [evaluation.loss, *(limit.turned(value) for limit, value in pairs)]
    return [cost if math.isfinite(cost) else math.inf for cost in costs]


def _share(evaluation: Evaluation) -> float:
    """Return the share of a whole evaluation that was measured: of its rows and of its folds."""
    done = len(evaluation.details.get("scores", ())) or 1
    return evaluation.candidate.fidelity * done / (done + evaluation.folds_left)


def _facts(run: SavedRun, evaluation: Evaluation) -> dict[str, Any]:
    pairs = zip(run.info.limits, evaluation.constraints, strict=False)
    outside = [str(limit) for limit, value in pairs if not limit.holds(value)]
    if evaluation.one_class is not None:
        outside.append("one class for all rows")
    return {
        "number": evaluation.number,
        "status": evaluation.ending,
        "pipeline": evaluation.text,
        "outside": outside,
        "message": evaluation.message,
    }


def configuration_space(space: SearchSpace) -> ConfigurationSpace:
    """Return the configuration space of a space; an order has the place of each of its items."""
    found = ConfigurationSpace()
    parts: dict[str, Hyperparameter[Any, Any]] = {}
    conditions: list[EqualsCondition | InCondition] = []
    for item in (*space.decisions, *space.parameters):
        made = list(_hyperparameters(item))
        parts |= {one.name: one for one in made}
        if item.when is not None:
            parent, some = parts[item.when.decision], list(item.when.alternatives)
            for one in made:
                is_one = len(some) == 1
                conditions.append(
                    EqualsCondition(one, parent, some[0])
                    if is_one
                    else InCondition(one, parent, some)
                )
    found.add(*parts.values())
    found.add(*conditions)
    return found


def _hyperparameters(item: Choice | Order | Parameter) -> Iterator[Hyperparameter[Any, Any]]:
    if isinstance(item, Order):
        names = (f"{item.name}[{one}]" for one in item.items)
        places = len(item.items)
        yield from (_integer(name, 1, places) for name in names)
    elif isinstance(item, Choice):
        yield Categorical(item.name, list(item.alternatives))
    elif item.values:
        yield Categorical(item.name, list(map(_writer(item), item.values)))
    elif item.is_integer:
        yield _integer(item.name, int(item.low), int(item.high), log=item.log)
    elif item.low == item.high:
        yield Constant(item.name, item.low)
    else:
        yield _float(item)


def _float(parameter: Parameter) -> Hyperparameter[Any, Any]:
    written = Written.of(parameter)
    ends, is_log = written.ends(parameter), parameter.log and not written.is_exponent
    try:
        return Float(written.name, ends, log=is_log)
    except ValueError as problem:
        said = f"{parameter.low!r} and {parameter.high!r}"
        raise ConfigurationError(
            f"SMAC's files cannot hold the range of '{parameter.name}' between {said}.",
            hint="Ask for a wider range, or export to another tool.",
        ) from problem


@dataclass(frozen=True, slots=True)
class Written:
    """The name and the scale of a float in SMAC's files.

    ConfigSpace rounds to 13 decimals. So a log range from below 1e-8 or to above 1e290 has its
    exponents, and other narrow or high ranges are multiplied by a power of ten; the names say so.
    """

    name: str
    power: int = 0
    is_exponent: bool = False

    @classmethod
    def of(cls, parameter: Parameter) -> Written:
        """Return the writing of a parameter."""
        name, width = parameter.name, parameter.high - parameter.low
        largest = max(abs(parameter.low), abs(parameter.high))
        if parameter.log and (parameter.low < SMALLEST_LOW or largest > LARGEST_END):
            return cls(f"log10({name})", is_exponent=True)
        if largest > LARGEST_END:
            power = -math.floor(math.log10(largest))
            return cls(f"{name} * 1e{power}", power)
        if width < SMALLEST_WIDTH:
            power = min(-math.floor(math.log10(width)), LARGEST_POWER)
            return cls(f"{name} * 1e{power}", power)
        return cls(name)

    def ends(self, parameter: Parameter) -> tuple[float, float]:
        """Return the ends of its range on its scale."""
        return self.value(parameter.low), self.value(parameter.high)

    def value(self, number: float) -> float:
        """Return the number on its scale, with the decimals kept of its ends, too."""
        if self.is_exponent:
            return round(math.log10(number), DECIMALS)
        return round(number * float(f"1e{self.power}"), DECIMALS) if self.power else number


def _writer(parameter: Parameter) -> Callable[[Any], str]:
    """Return the writer of a parameter's values: each gets a text of its own."""
    texts = set(map(str, parameter.values))
    return str if len(texts) == len(parameter.values) else _with_type


def _with_type(value: Any) -> str:
    return f"{type(value).__name__} {json.dumps(value)}"


def _integer(name: str, low: int, high: int, *, log: bool = False) -> Hyperparameter[Any, Any]:
    return Constant(name, low) if low == high else Integer(name, (low, high), log=log)


def _values(space: SearchSpace, evaluation: Evaluation) -> dict[str, Any]:
    """Return the values of the active decisions and parameters; a choice has its label."""
    candidate = evaluation.candidate
    found: dict[str, Any] = {**space.values(candidate), **dict(candidate.selection)}
    for decision in space.decisions:
        if isinstance(decision, Order) and decision.name in found:
            laid = found.pop(decision.name)
            found |= {f"{decision.name}[{item}]": place for place, item in enumerate(laid, start=1)}
    for parameter in space.parameters:
        if parameter.name in found and parameter.values:
            found[parameter.name] = _writer(parameter)(found[parameter.name])
        elif parameter.name in found and _is_range(parameter):
            written = Written.of(parameter)
            found[written.name] = written.value(found.pop(parameter.name))
    return found


def _within(space: ConfigurationSpace, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values between the ends of their ranges as ConfigSpace has rounded those."""
    return {
        name: float(min(max(value, one.lower), one.upper))
        if isinstance(one := space[name], UniformFloatHyperparameter)
        else value
        for name, value in values.items()
    }


def _is_range(parameter: Parameter) -> bool:
    return not parameter.is_integer and parameter.low < parameter.high
