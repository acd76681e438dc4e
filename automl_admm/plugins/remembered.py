"""Findings of child processes, kept in the user's cache folder so that usually nothing is started.

Without such a folder nothing is remembered.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MOST = 200


@dataclass(frozen=True, slots=True)
class Remembered:
    """A file of findings by key; None for a user without a home."""

    path: Path | None

    @classmethod
    def of(cls, name: str) -> Remembered:
        """Return the file of this name in the user's cache folder."""
        with contextlib.suppress(RuntimeError):
            given = os.environ.get("XDG_CACHE_HOME")
            home = Path(given) if given else Path.home() / ".cache"
            return cls(home / "automl-admm" / name)
        return cls(None)

    def read(self) -> dict[str, str]:
        """Return the findings; a missing or damaged file counts as empty."""
        if self.path is None:
            return {}
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            return {str(key): str(found) for key, found in content.items()}
        except (OSError, ValueError, AttributeError):
            return {}

    def write(self, known: Mapping[str, str]) -> None:
        """Keep the latest findings; if the file cannot be written, they are looked for again."""
        if self.path is None:
            return
        latest = dict(list(known.items())[-MOST:])
        partial = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(latest, indent=1), encoding="utf-8")
            partial.replace(self.path)
