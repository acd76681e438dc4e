"""The page of tables and files as people have them, made from `frames.jsonl`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from frames import HERE, OURS, SYSTEMS, Compared, compare, read_rows, report
from printed_tables import fenced, wrapped

FILE = HERE / "frames.jsonl"
NAMES = {OURS: "this package", "plain": "plain scikit-learn"}
ORDER = (OURS, "AutoGluon", "FLAML", "plain", "skrub")


@cache
def compared() -> tuple[Compared, ...]:
    """Return the tables and files with the scores of all systems."""
    return tuple(compare(read_rows(FILE)))


def counts() -> tuple[dict[str, float], dict[str, float]]:
    """Return how often each system is close to the best, and how often it gave no score."""
    close = {_name(one): float(_close(one)) for one in SYSTEMS}
    refused = {_name(one): float(_refused(one)) for one in SYSTEMS}
    return close, refused


def _name(system: str) -> str:
    return NAMES.get(system, system)


def _close(system: str, found: Sequence[Compared] | None = None) -> int:
    return sum(one.is_close(system) for one in (compared() if found is None else found))


def _refused(system: str) -> int:
    return sum(system in one.refused for one in compared())


def _on_the_first_draw() -> int:
    return _close(OURS, compare([row for row in read_rows(FILE) if row["seed"] == 0]))


def table() -> str:
    """Return the table, the versions, and where this package is not close to the best."""
    return fenced(report(read_rows(FILE)).splitlines())


def short() -> str:
    """Return how often each system is close to the best, in a sentence."""
    kinds = [sum(one.kind == kind for one in compared()) for kind in ("frame", "file")]
    others = ", ".join(f"{_name(one)} {_close(one)}" for one in ORDER[1:])
    refused = ", ".join(str(_refused(one)) for one in ORDER)
    close = f"{_close(OURS)} of {len(compared())} ({_on_the_first_draw()} on the first draw alone)"
    return wrapped(
        f"**In short:** {kinds[0]} tables in memory and {kinds[1]} files, five systems. This",
        f"package is best or within 0.01 of the best on {close}, {others};",
        f"errors or refusals {refused}.",
    )
