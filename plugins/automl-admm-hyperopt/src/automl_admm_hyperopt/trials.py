"""A box as a space of Hyperopt, and points as its trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hyperopt import (  # type: ignore[import-untyped]
    JOB_STATE_DONE,
    STATUS_OK,
    Trials,
    hp,
    trials_from_docs,
)
from hyperopt.base import Domain  # type: ignore[import-untyped]

from automl_admm.plugin_api import Array, AxisTree

Document = dict[str, Any]


class Documents:
    """The trials of one box, in the order of their first results.

    A category is an `hp.choice` around its conditional axes: so Hyperopt knows the active ones. A
    real number is searched on its axis [0, 1], log scale included; a whole number on its own scale,
    half a step wider at each end so that the ends are as likely.
    """

    def __init__(self, tree: AxisTree) -> None:
        self._tree = tree
        self._nodes: dict[int, Any] = {}
        self._known: dict[bytes, Document] = {}
        # Hyperopt fails on an empty space, and so there is one thing that is not searched.
        self.domain = Domain(_never_called, [0, *map(self._node, tree.below())])
        self._maker = Trials()

    @property
    def keys(self) -> set[bytes]:
        """Keys of the known points."""
        return set(self._known)

    def has_success(self) -> bool:
        """Return True if any point has succeeded."""
        return any(document["result"]["ok"] for document in self._known.values())

    def tell(self, point: Array, loss: float, *, ok: bool) -> None:
        """Keep the result of a point; of two results the better."""
        key = self._tree.key(point)
        before = self._known.get(key)
        if before is None:
            self._known[key] = self._document(len(self._known), point, loss, ok=ok)
        elif loss < before["result"]["loss"]:
            before["result"].update(loss=loss, ok=ok)

    def trials(self, waiting: Sequence[Array]) -> Trials:
        """Return all trials; pending points count as failures for the time being."""
        new = enumerate(waiting, start=len(self._known))
        liars = [self._document(number, point, math.inf, ok=False) for number, point in new]
        return trials_from_docs([*self._known.values(), *liars], validate=False)

    def point(self, document: Document) -> Array:
        """Return the point of a suggested trial."""
        values = document["misc"]["vals"]
        point = self._tree.resting()
        for axis, name in ((axis, _name(axis)) for axis in self._nodes):
            if values[name]:
                point[axis] = self._unit(axis, float(values[name][0]))
        return self._tree.settle(point)

    def _document(self, number: int, point: Array, loss: float, *, ok: bool) -> Document:
        counting = {
            _name(axis): self._value(axis, point[axis]) for axis in self._tree.counting(point)
        }
        names = [_name(axis) for axis in self._nodes]
        misc = {
            "tid": number,
            "cmd": self.domain.cmd,
            "workdir": None,
            "idxs": {name: [number] if name in counting else [] for name in names},
            "vals": {name: [counting[name]] if name in counting else [] for name in names},
        }
        result = {"status": STATUS_OK, "loss": loss, "ok": ok}
        (document,) = self._maker.new_trial_docs([number], [None], [result], [misc])
        document["state"] = JOB_STATE_DONE
        return dict(document)

    def _node(self, axis: int) -> Any:
        """Return the node of an axis; below several places it is the same node in each."""
        if axis not in self._nodes:
            self._nodes[axis] = self._make_node(axis)
        return self._nodes[axis]

    def _make_node(self, axis: int) -> Any:
        parameter, name = self._tree.parameter(axis), _name(axis)
        if parameter.is_category:
            places = range(self._tree.places(axis))
            return hp.choice(
                name, [[self._node(a) for a in self._tree.below(axis, p)] for p in places]
            )
        if not parameter.is_integer:
            return hp.uniform(name, 0.0, 1.0)
        low, high = parameter.low - 0.5, parameter.high + 0.5
        if parameter.log:
            return hp.qloguniform(name, math.log(low), math.log(high), 1.0)
        return hp.quniform(name, low, high, 1.0)

    def _value(self, axis: int, unit: float) -> int | float:
        """Return Hyperopt's value of a place on an axis: for a category its position."""
        parameter = self._tree.parameter(axis)
        if not parameter.is_integer:
            return min(max(float(unit), 0.0), 1.0)
        whole = self._tree.whole(axis, unit)
        return whole - int(parameter.low) if parameter.is_category else float(whole)

    def _unit(self, axis: int, value: float) -> float:
        parameter = self._tree.parameter(axis)
        if not parameter.is_integer:
            return value
        return parameter.to_unit(value + parameter.low if parameter.is_category else value)


def _name(axis: int) -> str:
    """The label of an axis; Hyperopt sorts by labels."""
    return f"x{axis:05d}"


def _never_called(values: object) -> float:
    """Raise: a domain needs a function, but only Hyperopt's own loop calls it."""
    raise NotImplementedError(values)
