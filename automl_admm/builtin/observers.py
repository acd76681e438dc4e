"""Built-in observers: events of a run as lines of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.run import RunInfo, RunResult
from automl_admm.plugins.observer_plugin import ObserverPlugin
from automl_admm.plugins.specs import hookimpl


@dataclass(frozen=True, slots=True)
class JsonlOptions:
    """The file that the lines are appended to."""

    path: Path = Path("events.jsonl")


class JsonlObserver:
    """Appends a line for each event; every line is in the file before the run goes on."""

    def __init__(self, options: JsonlOptions) -> None:
        # Absolute: a component may change the working folder of the process.
        self._path = options.path.absolute()
        is_new = not (self._path.exists() or self._path.is_symlink())
        try:
            self._path.open("a", encoding="utf-8").close()
            if is_new:  # the first event makes it: a dry run leaves nothing behind
                self._path.unlink()
        except OSError as problem:
            raise ConfigurationError(
                f"'{options.path}' cannot be written: {problem.strerror}.",
                hint="Give another file: jsonl:path=FILE.",
            ) from None

    def run_started(self, info: RunInfo) -> None:
        """Write the facts known before the first evaluation."""
        limits = [str(limit) for limit in info.limits]
        self._write("run_started", title=info.title, seed=info.seed, limits=limits)

    def evaluation_finished(self, info: RunInfo, evaluation: Evaluation) -> None:
        """Write an evaluation, with the values of the limits by their names."""
        names = [limit.name for limit in info.limits]
        self._write(
            "evaluation_finished",
            number=evaluation.number,
            key=evaluation.key,
            status=evaluation.status.value,
            score=_plain(info.score_of(evaluation.loss)),
            limits={n: _plain(v) for n, v in zip(names, evaluation.constraints, strict=False)},
            seconds=_plain(evaluation.seconds),
            fidelity=evaluation.candidate.fidelity,
            pipeline=evaluation.text,
            message=evaluation.message,
        )

    def solver_replaced(self, info: RunInfo, solver: str, reason: str) -> None:
        """Write the end of a solver that broke its promises."""
        del info
        self._write("solver_replaced", solver=solver, reason=reason)

    def run_finished(self, info: RunInfo, result: RunResult) -> None:
        """Write the result."""
        best = result.best
        self._write(
            "run_finished",
            stopped_by=result.stopped_by,
            feasible=result.feasible,
            evaluations=len(result.evaluations),
            score=None if best is None else _plain(info.score_of(best.loss)),
            pipeline=None if best is None else best.text,
        )

    def _write(self, event: str, **more: Any) -> None:
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"event": event, "time": time, **more}, allow_nan=False)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def _plain(value: float) -> float | None:
    """Return a number as JSON has it: unknown and infinite ones are null."""
    return float(value) if math.isfinite(value) else None


@hookimpl
def observers() -> Iterable[ObserverPlugin]:
    """Yield `jsonl`."""
    yield ObserverPlugin(
        name="jsonl",
        summary="a line of JSON for each event, appended to a file",
        factory=JsonlObserver,
        options=JsonlOptions,
    )
