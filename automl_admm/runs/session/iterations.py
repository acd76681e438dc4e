"""The course of ADMM on disk: a line of JSON for each outer iteration of a run.

The search needs none of it to go on: it is for reports. So a line is written without waiting for
the disk, and a line cut off by a kill is left out.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.errors import StoreError
from automl_admm.store.file_schemas import RUN_ID
from automl_admm.store.json_content import (
    RESTORE,
    MismatchError,
    list_of,
    nullable,
    number,
    read_file,
    record,
    text,
    whole,
)
from automl_admm.store.run_folder import TOGETHER, RunFolder, named_run

if TYPE_CHECKING:
    from automl_admm.runs.session.session import Session

Tell = Callable[..., Sequence[Any]]
HOOK = "iteration_finished"


@dataclass(frozen=True, slots=True)
class Iteration:
    """One outer iteration: its session, from 1, its number, from 0, and its end in UTC.

    `penalty` is ρ of the limits, `integer_penalty` that of integers. `multipliers` and `violations`
    (g − ε + u) have a value for each limit. `evaluations` counts those known to the search by then.
    """

    session: int
    iteration: int
    ended: float
    evaluations: int
    incumbent: int | None
    primal_residual: float | None
    dual_residual: float | None
    penalty: float
    integer_penalty: float
    multipliers: tuple[float, ...]
    violations: tuple[float, ...]


LINE = record(
    {
        "session": whole(1),
        "iteration": whole(),
        "ended": number,
        "evaluations": whole(),
        "incumbent": nullable(whole()),
        "primal_residual": nullable(number),
        "dual_residual": nullable(number),
        "penalty": number,
        "integer_penalty": number,
        "multipliers": list_of(number),
        "violations": list_of(number),
    },
    {RUN_ID: nullable(text)},
)


def noting_iterations(session: Session, tell: Tell) -> Tell:
    """Return `tell`, which first notes the iterations of a run that has a folder.

    A repeatable run is made again from its log, and so are its iterations.
    """
    if session.folder is None:
        return tell
    path = session.folder.iterations
    with suppress(OSError):
        if session.past.told_to_search:
            _cut_torn_line(path)
        else:
            path.unlink(missing_ok=True)

    def noting(hook: str, **arguments: Any) -> Sequence[Any]:
        if hook == HOOK:
            _add(path, session.run_id, describe(arguments["state"], len(session.earlier) + 1))
        return tell(hook, **arguments)

    return noting


def describe(state: AdmmState, session: int) -> Iteration:
    """Return the numbers of a state of ADMM that a report shows."""
    return Iteration(
        session=session,
        iteration=state.iteration,
        ended=round(time.time(), 3),
        evaluations=state.evaluations,
        incumbent=None if state.incumbent is None else state.incumbent.number,
        primal_residual=_finite(state.primal_residual),
        dual_residual=_finite(state.dual_residual),
        penalty=float(state.rho),
        integer_penalty=float(state.integer_rho),
        multipliers=tuple(map(float, state.constraint_duals)),
        violations=tuple(map(float, state.residuals)),
    )


def _finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _add(path: Path, run_id: str | None, iteration: Iteration) -> None:
    """Add a line; a full disk is told by the store, which cannot do without."""
    with suppress(OSError), path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({RUN_ID: run_id, **asdict(iteration)}) + "\n")


def _cut_torn_line(path: Path) -> None:
    if path.is_file():
        whole_lines = path.read_bytes().rpartition(b"\n")
        path.write_bytes(b"".join(whole_lines[:2]))


def read_iterations(folder: RunFolder) -> tuple[Iteration, ...]:
    """Return the outer iterations in their order; none of a run of another strategy.

    Raise if they are of another run.
    """
    path, run_id = folder.iterations, named_run(folder.settings)
    try:
        lines = read_file(path).split(b"\n")[:-1]
    except FileNotFoundError:
        return ()
    return tuple(_read(path, lines, run_id))


def _read(path: Path, lines: Sequence[bytes], run_id: str | None) -> Iterator[Iteration]:
    for place, line in enumerate(lines, start=1):
        try:
            content = json.loads(line)
            LINE(content, "")
            known = {name: content[name] for name in Iteration.__dataclass_fields__}
        except (MismatchError, ValueError, RecursionError) as problem:
            reason = problem if isinstance(problem, MismatchError) else "it is no JSON"
            raise StoreError(f"'{path}' is damaged in line {place}: {reason}.", hint=RESTORE) from (
                problem
            )
        if None not in (run_id, content.get(RUN_ID)) and content[RUN_ID] != run_id:
            told = f"'{path}' is of another run than 'run.json' beside it."
            raise StoreError(told, hint=TOGETHER)
        lists = {name: tuple(known[name]) for name in ("multipliers", "violations")}
        yield Iteration(**(known | lists))
