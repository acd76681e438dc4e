"""Precedences in an order: pairs (earlier, later) of places, a partial order.

A permutation that keeps all pairs, and so all their consequences, is a *linear extension*. This
module knows places only, and imports nothing but the standard library.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from math import factorial

# Counting goes over sets of bound places: of 12 places there are some 2¹¹ sets at most.
MOST_BOUND = 12
Pairs = Collection[tuple[int, int]]


def find_cycle(pairs: Pairs) -> tuple[int, ...]:
    """Return the places of one cycle, the first repeated at the end; () without a cycle."""
    uses: dict[int, list[int]] = {}
    for earlier, later in sorted(pairs):
        uses.setdefault(earlier, []).append(later)
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as problem:
        # The sorter lists a cycle against the arrows, with its first place twice.
        ring = list(reversed(problem.args[1]))[:-1]
        start = ring.index(min(ring))
        return (*ring[start:], *ring[:start], ring[start])
    return ()


def bound_places(pairs: Pairs) -> frozenset[int]:
    """Return the places named in any pair."""
    return frozenset(itertools.chain.from_iterable(pairs))


def everything_before(pairs: Pairs) -> dict[int, frozenset[int]]:
    """Return for each bound place all places before it, by one pair or by several in a row."""
    direct: dict[int, set[int]] = {place: set() for place in bound_places(pairs)}
    for earlier, later in pairs:
        direct[later].add(earlier)
    found: dict[int, frozenset[int]] = {}
    # Earlier places come first, so their own predecessors are complete.
    for place in TopologicalSorter(direct).static_order():
        found[place] = frozenset(direct[place]).union(*(found[other] for other in direct[place]))
    return found


def keeps(permutation: Sequence[int], pairs: Pairs) -> bool:
    """Return True if a permutation is a linear extension."""
    position = {place: number for number, place in enumerate(permutation)}
    return all(position[earlier] < position[later] for earlier, later in pairs)


def arrange(permutation: Sequence[int], pairs: Pairs) -> tuple[int, ...]:
    """Turn a permutation into a linear extension: repeatedly take the first allowed place."""
    if keeps(permutation, pairs):
        return tuple(permutation)
    before = everything_before(pairs)
    left = list(permutation)
    found: list[int] = []
    while left:
        # There always is one: the pairs have no cycle.
        free = next(i for i, place in enumerate(left) if before.get(place, set()) <= {*found})
        found.append(left.pop(free))
    return tuple(found)


def extensions(count: int, pairs: Pairs) -> Iterator[tuple[int, ...]]:
    """Yield every linear extension of so many places once, in lexicographic order."""
    if not pairs:
        return itertools.permutations(range(count))
    return _extended((), frozenset(range(count)), everything_before(pairs))


def _extended(
    laid: tuple[int, ...], left: frozenset[int], before: Mapping[int, frozenset[int]]
) -> Iterator[tuple[int, ...]]:
    if not left:
        yield laid
    for place in sorted(left):
        # Nothing still left has to stand before it.
        if not before.get(place, frozenset()) & left:
            yield from _extended((*laid, place), left - {place}, before)


def count_extensions(count: int, pairs: Pairs) -> int:
    """Return the number of linear extensions: T! / Π k! · Π e(group) over groups of bound places.

    The positions of a group of k are as free as if there were no others; within them stands one of
    its own e extensions.
    """
    total = factorial(count)
    before = everything_before(pairs)
    for group in _groups(pairs):
        # Whole at every step: T! / Π k! is a multinomial coefficient times a factorial.
        total = total // factorial(len(group)) * _count_group(group, before)
    return total


def _groups(pairs: Pairs) -> list[frozenset[int]]:
    """Return the bound places, grouped by the pairs connecting them."""
    found: list[frozenset[int]] = []
    for pair in pairs:
        # A pair may join two groups.
        touched = [group for group in found if not group.isdisjoint(pair)]
        found = [group for group in found if group.isdisjoint(pair)]
        found.append(frozenset(pair).union(*touched))
    return found


def _count_group(group: frozenset[int], before: Mapping[int, frozenset[int]]) -> int:
    """Return e(S) = Σ e(S − {x}) over all x of S able to come last, by size from e(∅) = 1."""
    # Sets of one size at a time: the larger ones need no others.
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
