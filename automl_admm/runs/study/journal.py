"""The trials asked for, in their order, on disk: a line of JSON for each.

The results are in the store. The journal has what the store has not: points that are pending, and
the number of results that the search knew when it proposed each. So a resumed study can go on with
the proposals that it would have made. A line cut off by a kill is left out; a file or lines that
are missing otherwise are an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from automl_admm.core.errors import NO_ROOM, DiskFullError, StoreError
from automl_admm.core.messages import say_value
from automl_admm.core.space import Candidate, SearchSpace, Selection
from automl_admm.runs.study.points import is_point
from automl_admm.store.json_content import (
    RESTORE,
    MismatchError,
    either,
    list_of,
    mapping_of,
    nullable,
    read_file,
    record,
    text,
    whole,
    within,
)

LINE = record(
    {
        "number": nullable(whole(1)),
        "heard": whole(),
        "selection": mapping_of(either("a text or a list of texts", text, list_of(text))),
        "theta": list_of(within(0.0, 1.0)),
        "fidelity": within(1e-12, 1.0),
        "origin": text,
    }
)


@dataclass(frozen=True, slots=True)
class Ask:
    """A candidate asked for, as trial `number`; one that only waits in the queue has no number.

    `heard` counts the results that the study knew by then.
    """

    number: int | None
    heard: int
    candidate: Candidate
    origin: str


class Journal:
    """A file of asks; without a path they are kept in memory alone."""

    def __init__(self, path: Path | None, asks: Sequence[Ask] = ()) -> None:
        self.asks = list(asks)
        self._path = path

    def add(self, ask: Ask) -> None:
        """Add a line, on the disk before returning: the store never has a trial that it has not."""
        if self._path is not None:
            _append(self._path, (json.dumps(_content(ask)) + "\n").encode())
        self.asks.append(ask)


def _append(path: Path, line: bytes) -> None:
    """Write all of a line to the end of a file, or raise and leave the file as it was."""
    try:
        with path.open("ab", buffering=0) as file:
            before = file.seek(0, os.SEEK_END)
            try:
                while line:
                    line = line[file.write(line) :]
                os.fsync(file.fileno())
            except BaseException:
                # The next line would be glued to a piece of this one.
                with suppress(OSError):
                    file.truncate(before)
                raise
    except OSError as problem:
        if problem.errno in NO_ROOM:
            message = f"no room left for '{path}'."
            raise DiskFullError(message, hint="Free some and go on.") from problem
        raise StoreError(f"'{path}' cannot be written: {problem.strerror}.") from problem


def create_journal(path: Path) -> Journal:
    """Make the file of a new study, so that a missing one is known to be lost."""
    path.touch()
    return Journal(path)


def _content(ask: Ask) -> dict[str, Any]:
    return {
        "number": ask.number,
        "heard": ask.heard,
        "selection": dict(ask.candidate.selection.picks),
        "theta": ask.candidate.theta,
        "fidelity": ask.candidate.fidelity,
        "origin": ask.origin,
    }


def read_journal(path: Path, space: SearchSpace) -> Journal:
    """Read the asks of a study; a torn last line is cut off, for the next one to be whole."""
    try:
        content = read_file(path)
    except FileNotFoundError:
        raise lost(path, "it is missing") from None
    lines = content.split(b"\n")
    if lines[-1]:
        # Not written anew: a full disk would take the lines before it.
        os.truncate(path, len(content) - len(lines[-1]))
    numbered = enumerate(lines[:-1], start=1)
    return Journal(path, [_read(path, place, line, space) for place, line in numbered])


def lost(path: Path, reason: str) -> StoreError:
    """Return the error of a journal that has lost asks: the trials pending cannot be known."""
    source = say_value(str(path.parent))
    return StoreError(
        f"'{path}' cannot be used: {reason}.",
        hint=f"Restore it, or take the results over: Study(…, warm_start={source}).",
    )


def _read(path: Path, place: int, line: bytes, space: SearchSpace) -> Ask:
    try:
        content = json.loads(line)
        LINE(content, "")
        return Ask(
            content["number"], content["heard"], _candidate(content, space), content["origin"]
        )
    except (MismatchError, ValueError, RecursionError) as problem:
        reason = problem if isinstance(problem, MismatchError) else "it is no JSON"
        raise StoreError(f"'{path}' is damaged in line {place}: {reason}.", hint=RESTORE) from (
            problem
        )


def _candidate(content: dict[str, Any], space: SearchSpace) -> Candidate:
    """Return a candidate of this space, and of no other."""
    named = content["selection"].items()
    picks = {name: tuple(pick) if isinstance(pick, list) else pick for name, pick in named}
    theta = tuple(map(float, content["theta"]))
    candidate = Candidate(Selection(tuple(picks.items())), theta, float(content["fidelity"]))
    if not is_point(space, candidate):
        raise MismatchError("it is no point of the space")
    return replace(candidate, selection=space.complete(picks))
