"""The profile of a run: the seconds of its own process, of its workers, and of each component."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.run import RunResult
from automl_admm.pipelines.step_times import STEPS


@dataclass(frozen=True, slots=True)
class FitTime:
    """The fits of one component in the search: the evaluations that had it, and all seconds."""

    component: str
    evaluations: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Profile:
    """The seconds of a run: of its process and of the search's workers by account, and the fits.

    Both mappings add up to the time that there was. The fits are those of all sessions; in a run of
    one session they are a part of the workers' `fit`.
    """

    process: Mapping[str, float]
    workers: Mapping[str, float]
    fits: tuple[FitTime, ...] = ()

    def lines(self) -> Iterator[str]:
        """Say it for a person, what took longest first."""
        yield from _lines("the run's own process", self.process)
        yield from _lines("the workers, during the search", self.workers)
        if self.fits:
            named = {f"{one.component} × {one.evaluations}": one.seconds for one in self.fits}
            yield from _lines("fits of all sessions, by step and evaluations", named)


def profile_of(result: RunResult) -> Profile:
    """Return the profile of a run."""
    return Profile(result.ledger, result.work, fit_times(result.evaluations))


def fit_times(evaluations: Sequence[Evaluation]) -> tuple[FitTime, ...]:
    """Add up the fits by component, the longest first."""
    counts: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    for evaluation in evaluations:
        for name, spent in evaluation.details.get(STEPS, {}).items():
            counts[name] += 1
            seconds[name] = seconds.get(name, 0.0) + float(spent)
    ordered = sorted(seconds, key=lambda name: -seconds[name])
    return tuple(FitTime(name, counts[name], seconds[name]) for name in ordered)


def _lines(title: str, spent: Mapping[str, float]) -> Iterator[str]:
    whole = sum(spent.values())
    yield f"{title}: {whole:.2f} s"
    for name, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        yield f"  {seconds:8.2f} s  {100 * seconds / (whole or 1.0):3.0f} %  {name}"
