"""A work that can begin before all of it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Beginning:
    """A part of a work: enough for some of its `methods`, with the same results.

    `work.complete(rest)` returns the whole work for all others.

    >>> Beginning("a part", frozenset({"evaluate"}), "the rest").methods
    frozenset({'evaluate'})
    """

    work: Any
    methods: frozenset[str]
    rest: Any


class DividedWork(Protocol):
    """A work that may be sent in two parts; an executor may send it as a whole all the same.

    >>> hasattr(DividedWork, "begin") and hasattr(DividedWork, "complete")
    True
    """

    def begin(self) -> Beginning | None:
        """Return what to send first; None for a work that is sent as a whole."""

    def complete(self, rest: Any) -> Any:
        """Return the whole work, made of this first part and the rest."""


def beginning_of(work: Any) -> Beginning | None:
    """Return what to send first of any work; None if it cannot be divided."""
    begin = getattr(work, "begin", None)
    found: Beginning | None = None if begin is None else begin()
    return found
