"""What stands before what in an order: pairs (earlier, later) of places, a partial order.

A permutation that keeps to all pairs, and so to all that follows from them, is a *linear
extension*. This module knows places only, and imports nothing but the standard library.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from math import factorial

# Linear extensions are counted over subsets of what is bound: 2¹¹ of them are many enough.
MOST_BOUND = 12
Pairs = Collection[tuple[int, int]]


def find_cycle(pairs: Pairs) -> tuple[int, ...]:
    """The places of one cycle, the first once more at the end; none where there is no cycle."""
    uses: dict[int, list[int]] = {}
    for earlier, later in sorted(pairs):
        uses.setdefault(earlier, []).append(later)
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as problem:
        ring = list(reversed(problem.args[1]))[:-1]
        start = ring.index(min(ring))
        return (*ring[start:], *ring[:start], ring[start])
    return ()


def bound_places(pairs: Pairs) -> frozenset[int]:
    """The places that any pair names."""
    return frozenset(itertools.chain.from_iterable(pairs))


def everything_before(pairs: Pairs) -> dict[int, frozenset[int]]:
    """For each bound place all that stands before it, by one pair or by several in a row."""
    direct: dict[int, set[int]] = {place: set() for place in bound_places(pairs)}
    for earlier, later in pairs:
        direct[later].add(earlier)
    found: dict[int, frozenset[int]] = {}
    for place in TopologicalSorter(direct).static_order():
        found[place] = frozenset(direct[place]).union(*(found[other] for other in direct[place]))
    return found


def keeps(permutation: Sequence[int], pairs: Pairs) -> bool:
    """Whether a permutation is a linear extension."""
    position = {place: number for number, place in enumerate(permutation)}
    return all(position[earlier] < position[later] for earlier, later in pairs)


def arrange(permutation: Sequence[int], pairs: Pairs) -> tuple[int, ...]:
    """The permutation made a linear extension: again and again the first that may come comes."""
    if keeps(permutation, pairs):
        return tuple(permutation)
    before = everything_before(pairs)
    left = list(permutation)
    found: list[int] = []
    while left:
        free = next(i for i, place in enumerate(left) if before.get(place, set()) <= {*found})
        found.append(left.pop(free))
    return tuple(found)


def extensions(count: int, pairs: Pairs) -> Iterator[tuple[int, ...]]:
    """Every linear extension of so many places once, in the order of the dictionary."""
    if not pairs:
        return itertools.permutations(range(count))
    return _extended((), frozenset(range(count)), everything_before(pairs))


def _extended(
    laid: tuple[int, ...], left: frozenset[int], before: Mapping[int, frozenset[int]]
) -> Iterator[tuple[int, ...]]:
    if not left:
        yield laid
    for place in sorted(left):
        if not before.get(place, frozenset()) & left:
            yield from _extended((*laid, place), left - {place}, before)


def count_extensions(count: int, pairs: Pairs) -> int:
    """The number of linear extensions: T! / Π k! · Π e(group) over the groups of bound places.

    The positions of a group of k are as free as if there were no others; within them stands one of
    its own e extensions.
    """
    total = factorial(count)
    before = everything_before(pairs)
    for group in _groups(pairs):
        total = total // factorial(len(group)) * _count_group(group, before)
    return total


def _groups(pairs: Pairs) -> list[frozenset[int]]:
    """The bound places, those together that pairs connect."""
    found: list[frozenset[int]] = []
    for pair in pairs:
        touched = [group for group in found if not group.isdisjoint(pair)]
        found = [group for group in found if group.isdisjoint(pair)]
        found.append(frozenset(pair).union(*touched))
    return found


def _count_group(group: frozenset[int], before: Mapping[int, frozenset[int]]) -> int:
    """e(S) = Σ e(S − {x}) over those x of S that may come last, by size from e(∅) = 1."""
    ways: dict[frozenset[int], int] = {frozenset(): 1}
    for _ in group:
        longer: dict[frozenset[int], int] = {}
        for done, number in ways.items():
            for place in group - done:
                if before[place] <= done:
                    more = done | {place}
                    longer[more] = longer.get(more, 0) + number
        ways = longer
    return ways[group]
