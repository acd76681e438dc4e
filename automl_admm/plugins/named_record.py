"""The base of all records of plugins: a name, and a summary for lists."""

from __future__ import annotations

import re
from dataclasses import dataclass

from automl_admm.core.errors import PluginError
from automl_admm.core.messages import say_value

NAME = re.compile(r"[a-z][a-z0-9_]*(-[a-z0-9_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRecord:
    """A record with a name and a summary; its factory, if it has one, is callable."""

    name: str
    summary: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            raise PluginError(
                f"'{self.name}' is no plugin name: lower case letters, digits, '-' and '_'."
            )
        if not isinstance(self.summary, str) or not self.summary.strip():
            raise PluginError(f"plugin '{self.name}' needs a summary.")
        if hasattr(self, "factory") and not callable(self.factory):
            raise PluginError(
                f"plugin '{self.name}': its factory must be callable, "
                f"not {say_value(self.factory)}."
            )
