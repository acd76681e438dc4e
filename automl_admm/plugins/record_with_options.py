"""The base of records of plugins with options: `name:key=value,…` becomes its dataclass."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any

from automl_admm.core.errors import PluginError
from automl_admm.plugins.named_record import NamedRecord


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a plugin without options.

    >>> NoOptions()
    NoOptions()
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordWithOptions(NamedRecord):
    """A record with a dataclass of options, all of them with defaults."""

    options: type[Any] = NoOptions

    def __post_init__(self) -> None:
        NamedRecord.__post_init__(self)
        if not isinstance(self.options, type) or not is_dataclass(self.options):
            raise PluginError(f"plugin '{self.name}': its options must be a dataclass.")
        given = [field for field in fields(self.options) if field.init]
        if any(one.default is MISSING and one.default_factory is MISSING for one in given):
            raise PluginError(f"plugin '{self.name}': every option needs a default.")
