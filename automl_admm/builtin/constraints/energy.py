"""The energy of predictions: by the counters of the machine, else modelled by processor time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from automl_admm.builtin.constraints.energy_counters import Counter, Reading, find_counters
from automl_admm.builtin.constraints.resources import batch_of
from automl_admm.core.evidence import Estimate
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import ConstraintPlugin

# Assumed of a busy core, with its part of the rest of the package: who knows better says `watts`.
WATTS = 10.0
# Processor seconds of the calls for a counter, and for a model: a counter moves every millisecond.
COUNTED_SECONDS, MODELLED_SECONDS = 0.2, 0.05
MOST_CALLS = 1000
COUNTED = "its energy is counted once a fit"
MODELLED = "its energy is modelled, as processor time at {:g} W a core"
SUMMARY = "energy to predict 1 000 rows, joules"


@dataclass(frozen=True, slots=True)
class Power:
    """The option of `energy_j`: the watts of a busy core; 0 leaves it to the machine's counters."""

    watts: float = 0.0


def energy_j(evaluated: EvaluatedPipeline, power: Power = Power()) -> Estimate:
    """Return joules for a batch of 1 000 rows, the mean of warm calls.

    Counted: E · p/P for the calls, with the energy E of the processors meanwhile, the processor
    time p of this process and that of the whole machine, P. Modelled: p · watts.
    """
    call = partial(evaluated.pipeline.predict, batch_of(evaluated))
    # A warm-up: the first call pays for lazy imports and caches.
    call()
    counters = () if power.watts else find_counters()
    joules = _counted(call, counters) if counters else math.nan
    if joules > 0.0:  # NaN is not
        return Estimate(joules, COUNTED)
    watts = power.watts or WATTS
    return Estimate(watts * _processor_seconds(call), MODELLED.format(watts))


def _counted(call: Callable[[], object], counters: tuple[Counter, ...]) -> float:
    """Return the joules of a call; NaN if a counter cannot be read any more."""
    try:
        before = Reading.now(counters)
        calls = _repeat(call, COUNTED_SECONDS)
        return before.joules_until(Reading.now(counters)) / calls
    except (OSError, ValueError):
        return math.nan


def _processor_seconds(call: Callable[[], object]) -> float:
    begun = time.process_time()
    calls = _repeat(call, MODELLED_SECONDS)
    return (time.process_time() - begun) / calls


def _repeat(call: Callable[[], object], seconds: float) -> int:
    """Call until so many processor seconds have gone, and return the number of calls."""
    begun, calls = time.process_time(), 0
    while not calls or (time.process_time() - begun < seconds and calls < MOST_CALLS):
        call()
        calls += 1
    return calls


def constraint() -> ConstraintPlugin:
    """Return the limit."""
    return ConstraintPlugin(
        name="energy_j", summary=SUMMARY, options=Power, configured=_with, better="smaller"
    )


def _with(power: Power) -> ConstraintPlugin:
    if not 0.0 <= power.watts < math.inf:
        raise ValueError("watts is a number of 0 or more; 0 leaves it to the machine's counters")
    return ConstraintPlugin(
        name="energy_j",
        summary=SUMMARY,
        function=partial(energy_j, power=power),
        better="smaller",
        adds_up=True,
        first_fold=True,
    )
