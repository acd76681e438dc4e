"""A work in two parts; imported by the children as `divided`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.execution.beginnings import Beginning


class Divided:
    """Its first part has two of its rows."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def begin(self) -> Beginning:
        return Beginning(Divided(self.rows[:2]), frozenset({"first"}), self.rows)

    def complete(self, rest: Any) -> Divided:
        return Divided(rest)

    def first(self, folder: Path) -> dict[str, Any]:
        """Do with two rows."""
        return {"sum": int(np.sum(self.rows[:2])), "server": os.getppid()}

    def whole(self, folder: Path) -> dict[str, Any]:
        """Need all rows."""
        return {"sum": int(np.sum(self.rows))}


class Torn(Divided):
    """It cannot be completed."""

    def begin(self) -> Beginning:
        return Beginning(Torn(self.rows[:2]), frozenset({"first"}), self.rows)

    def complete(self, rest: Any) -> Divided:
        raise ValueError("torn")
