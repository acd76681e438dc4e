"""A run as an Optuna study, for its plots and for optuna-dashboard."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial

from automl_admm.plugin_api import (
    Choice,
    ConfigurationError,
    Evaluation,
    Limit,
    Order,
    Parameter,
    SavedRun,
    SearchSpace,
    Status,
)
from automl_admm_optuna.samplers import quiet

# The constraint of a pipeline that decides one class for all rows: no limit, and never feasible.
ONE_CLASS = "decides one class alone"
Distributions = Mapping[str, BaseDistribution]


def write_study(run: SavedRun, storage: str) -> str:
    """Write a run as a study of a storage, and return a line about it."""
    study, count, is_anew = _write(run, storage)
    trials = "1 new trial" if count == 1 else f"{count} new trials"
    why = ", written anew: its trials were no longer those of the run" if is_anew else ""
    return f"{storage}: {trials} in the study '{study.study_name}'{why}"


def export_study(run: SavedRun, storage: Any) -> tuple[optuna.Study, int]:
    """Return the study of a run in a storage, and the number of trials that are new in it.

    The study has the name of the run's folder. If it is there already, it is brought up to date. It
    is written anew where a trial is not in the log as it stands, as after another table or grammar.
    """
    study, count, _ = _write(run, storage)
    return study, count


def _write(run: SavedRun, storage: Any) -> tuple[optuna.Study, int, bool]:
    """Return the study, the number of its new trials, and True if it was written anew."""
    with quiet():
        study, places = _open(run, storage), _distributions(run.info.space)
        trials = [_trial(run, one, places, begun) for one, begun in _timed(run)]
        written = {one.user_attrs["number"]: one for one in _ours(study)}
        is_anew = _is_stale(study, run, written, trials)
        if is_anew:
            study, written = _begin_anew(study, run, storage), {}
        _describe(study, run)
        new = [one for one in trials if one.user_attrs["number"] not in written]
        study.add_trials(new)
    return study, len(new), is_anew


def _open(run: SavedRun, storage: Any) -> optuna.Study:
    """Open the study of a run; raise if that name is another's."""
    study = optuna.create_study(
        storage=storage, study_name=_name(run), direction=_direction(run), load_if_exists=True
    )
    if study.get_trials() and study.user_attrs.get("begun") != _begun(run):
        raise ConfigurationError(
            f"the study '{study.study_name}' in {storage} is of another run.",
            hint="Name another storage, or rename the folder of the run.",
        )
    return study


def _describe(study: optuna.Study, run: SavedRun) -> None:
    study.set_metric_names([run.info.loss_name])
    about = {"begun": _begun(run), "data": run.info.title, "state": str(run.state)}
    for name, value in about.items():
        study.set_user_attr(name, value)


def _begun(run: SavedRun) -> str:
    return str(run.content.get("sessions", [{}])[0].get("begun", ""))


def _name(run: SavedRun) -> str:
    return run.info.title if run.info.folder is None else run.info.folder.resolve().name


def _direction(run: SavedRun) -> StudyDirection:
    is_loss = run.info.best_score is None
    return StudyDirection.MINIMIZE if is_loss else StudyDirection.MAXIMIZE


def _ours(study: optuna.Study) -> list[FrozenTrial]:
    """Return the trials of the run: a user may have searched on in the study."""
    return [one for one in study.get_trials() if {"number", "key"} <= {*one.user_attrs}]


def _is_stale(
    study: optuna.Study,
    run: SavedRun,
    written: Mapping[int, FrozenTrial],
    trials: Iterable[FrozenTrial],
) -> bool:
    """Return True if a trial that is there is not in the log as it stands.

    A session may measure again on other rows, with another grammar or metric or within other
    limits, and gives the number of a killed evaluation to another one.
    """
    if study.direction is not _direction(run):
        return True
    by_number = {one.user_attrs["number"]: one for one in trials}
    return len(written) < len(_ours(study)) or any(
        number not in by_number or _told(one) != _told(by_number[number])
        for number, one in written.items()
    )


def _told(trial: FrozenTrial) -> tuple[object, ...]:
    """Return what must be as in the log; the key tells the values of the parameters."""
    facts = (trial.user_attrs["key"], trial.user_attrs["status"])
    value = None if trial.value is None else repr(trial.value)  # NaN, too, is itself
    return *facts, trial.state, value, trial.constraints, trial.distributions


def _begin_anew(study: optuna.Study, run: SavedRun, storage: Any) -> optuna.Study:
    """Return an empty study in the place of this one; raise if it has trials of anybody else."""
    if len(_ours(study)) < len(study.get_trials()):
        raise ConfigurationError(
            f"the study '{study.study_name}' in {storage} has trials that are no longer those of "
            "the run, and others that are not from it.",
            hint="Name another storage.",
        )
    optuna.delete_study(study_name=study.study_name, storage=storage)
    return _open(run, storage)


def _timed(run: SavedRun) -> Iterator[tuple[Evaluation, datetime]]:
    """Yield evaluations with the moments at which they began.

    Those whose end nobody noted are laid end to end.
    """
    said = run.content.get("sessions", [{}])[0].get("begun")
    clock = datetime.now().timestamp() if said is None else datetime.fromisoformat(said).timestamp()
    for one in run.log:
        begun = clock if one.ended is None else one.ended - one.seconds
        yield one, datetime.fromtimestamp(begun)  # Optuna's moments are local ones
        clock += one.seconds


def _trial(
    run: SavedRun, evaluation: Evaluation, places: Distributions, begun: datetime
) -> FrozenTrial:
    params = _params(run.info.space, evaluation)
    score = run.info.score_of(evaluation.loss) if evaluation.ok else None
    trial = create_trial(
        state=_state(evaluation),
        value=score,
        params=params,
        distributions={name: places[name] for name in params},
        user_attrs=_facts(run, evaluation),
        intermediate_values=_steps(run, evaluation),
        constraints=_constraints(run, evaluation),
    )
    trial.datetime_start = begun
    trial.datetime_complete = begun + timedelta(seconds=evaluation.seconds)
    return trial


def _state(evaluation: Evaluation) -> TrialState:
    """Return the state: pruned is a success on fewer folds or rows, whose value is a forecast."""
    if not evaluation.ok:
        return TrialState.FAIL
    return TrialState.COMPLETE if evaluation.is_ranked else TrialState.PRUNED


def _steps(run: SavedRun, evaluation: Evaluation) -> dict[int, float]:
    """Return the score of each fold of a success; that of a share of the rows is one step."""
    if not evaluation.ok:
        return {}
    scores = evaluation.details.get("scores", ()) if evaluation.is_whole else ()
    found = dict(enumerate(map(float, scores), start=1))
    return found or {1: run.info.score_of(evaluation.loss)}


def _constraints(run: SavedRun, evaluation: Evaluation) -> dict[str, float] | None:
    """Return how far a success is outside each limit: above 0 is outside, as Optuna reads it."""
    if evaluation.status is not Status.SUCCESS:
        return None
    pairs = zip(run.info.limits, evaluation.constraints, strict=True)
    told = {str(limit): _distance(limit, value) for limit, value in pairs}
    return told | {ONE_CLASS: 0.0 if evaluation.one_class is None else 1.0}


def _distance(limit: Limit, value: float) -> float:
    """Return how far a value is outside of a limit; at most 0 where it holds, but for rounding."""
    if math.isnan(value):  # within no limit, and Optuna takes none that is no number
        return math.inf
    return limit.excess(value) or min(0.0, limit.turned(value) - limit.turned(limit.bound))


def _facts(run: SavedRun, evaluation: Evaluation) -> dict[str, Any]:
    values = zip(run.info.limits, evaluation.constraints, strict=False)
    facts = {
        # First: one may have the name of a fact of ours.
        **{limit.name: value for limit, value in values},
        "number": evaluation.number,
        "pipeline": evaluation.text,
        "status": evaluation.ending,
        "seconds": evaluation.seconds,
        "share of the rows": evaluation.candidate.fidelity,
        "message": evaluation.message,
        "key": evaluation.key,
    }
    return {name: value for name, value in facts.items() if value != ""}


def _distributions(space: SearchSpace) -> dict[str, BaseDistribution]:
    """Return the distributions of a space; an order has the place of each of its items."""
    found: dict[str, BaseDistribution] = {}
    for decision in space.decisions:
        if isinstance(decision, Choice):
            values = decision.values or decision.alternatives
            found[decision.name] = CategoricalDistribution(_told_apart(values))
        else:
            found |= dict.fromkeys(_places(decision), IntDistribution(1, len(decision.items)))
    return found | {one.name: _range(one) for one in space.parameters}


def _range(parameter: Parameter) -> BaseDistribution:
    if parameter.values:
        return CategoricalDistribution(_told_apart(parameter.values))
    if parameter.is_integer:
        return IntDistribution(int(parameter.low), int(parameter.high), log=parameter.log)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log)


def _told_apart(values: Sequence[Any]) -> Sequence[Any]:
    """Return values, or texts where some are equal: to Optuna 1, 1.0 and True are one."""
    return values if len(set(values)) == len(values) else tuple(map(_with_type, values))


def _with_type(value: Any) -> str:
    """Return a text that is no value itself, and so is refused when it is read again."""
    return f"{type(value).__name__} {json.dumps(value)}"


def _params(space: SearchSpace, evaluation: Evaluation) -> dict[str, Any]:
    """Return the values of the active decisions and parameters."""
    found: dict[str, Any] = dict(space.values(evaluation.candidate))
    for item in (*space.decisions, *space.parameters):
        values = () if isinstance(item, Order) else item.values
        if item.name in found and _told_apart(values) is not values:
            found[item.name] = _with_type(found[item.name])
    for decision in space.decisions:
        if isinstance(decision, Order) and decision.name in found:
            laid = found.pop(decision.name)
            found |= {f"{decision.name}[{item}]": place for place, item in enumerate(laid, start=1)}
    return found


def _places(order: Order) -> list[str]:
    return [f"{order.name}[{item}]" for item in order.items]
