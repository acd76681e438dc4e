"""The parts of a fitted model that can be counted: coefficients, trees, leaves, depth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

Count = int | None


@dataclass(frozen=True, slots=True)
class ModelParts:
    """Numbers of parts of a fitted model; None for a kind of part that it is not made of.

    `coefficients` are weights other than 0, without intercepts. `depth` is the largest number of
    questions that a tree asks about a row. A constant has 0 of everything.

    An estimator of a plugin says its own: a method `count_model_parts()` that returns this record.

    >>> ModelParts.of_trees(leaves=[4, 2], depths=[3, 1])
    ModelParts(coefficients=None, trees=2, leaves=6, depth=3)
    """

    coefficients: Count = None
    trees: Count = None
    leaves: Count = None
    depth: Count = None

    @classmethod
    def of_trees(cls, leaves: Sequence[int], depths: Sequence[int]) -> ModelParts:
        """Return the parts of several trees, given the leaves and the depth of each."""
        return cls(trees=len(leaves), leaves=sum(leaves), depth=max(depths, default=0))

    @classmethod
    def together(cls, members: Iterable[ModelParts]) -> ModelParts:
        """Return the parts of a model of several: sums, but for the depth, which is the largest.

        A kind of part that one member is not made of cannot be counted for the whole.
        """
        found = list(members)
        joined: dict[str, Count] = {}
        for one in fields(cls):
            counts = [getattr(member, one.name) for member in found]
            known = [count for count in counts if count is not None]
            join = max if one.name == "depth" else sum
            joined[one.name] = join(known) if known and len(known) == len(counts) else None
        return cls(**joined)
