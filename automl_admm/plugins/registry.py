"""Records by name, each with its provider."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Generic, Protocol, TypeVar

from automl_admm.core.errors import PluginError, UnknownNameError


class Named(Protocol):
    """A record with a name."""

    @property
    def name(self) -> str:
        """The name to be registered under."""


# The provider of what a program gives itself.
HERE = "this process"
RecordT = TypeVar("RecordT", bound=Named)


class DoubledNameError(PluginError):
    """Two providers claim one name."""


class Registry(Generic[RecordT]):
    """The records of one kind by name; two records with one name are an error.

    A name that two claim may be withheld: it is listed, and who asks for it is told.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._records: dict[str, RecordT] = {}
        self._providers: dict[str, str] = {}
        self._claims: dict[str, str] = {}

    def add(self, record: RecordT, provider: str) -> None:
        """Register a record; a taken name raises an error that names both providers."""
        if record.name in self._records:
            raise self.doubled(record.name, provider)
        self._records[record.name] = record
        self._providers[record.name] = provider

    def doubled(self, name: str, provider: str) -> DoubledNameError:
        """Return the error of a second claim on a name."""
        first = self._providers.get(name, provider)
        hint = "Uninstall one of them, or name those to load in AUTOML_ADMM_PLUGINS."
        if provider == HERE:
            hint = "Give yours another name."
        return DoubledNameError(
            f"{self.kind} '{name}' is provided twice: {first}, {provider}.", hint=hint
        )

    def withhold(self, name: str, provider: str) -> None:
        """Withhold a name claimed by a second provider; asking for it raises the reason."""
        self._claims[name] = provider

    def get(self, name: str) -> RecordT:
        """The record of a name; an unknown name raises with the nearest known one."""
        if name in self._claims:
            raise self.doubled(name, self._claims[name])
        if name not in self._records:
            raise UnknownNameError(self.kind, name, self._records)
        return self._records[name]

    def without(self, names: Collection[str]) -> Registry[RecordT]:
        """Return a registry without some names."""
        found: Registry[RecordT] = Registry(self.kind)
        for name, record in self._records.items():
            if name not in names:
                found.add(record, self._providers[name])
        for name, provider in self._claims.items():
            found.withhold(name, provider)
        return found

    def stand_in(self) -> RecordT:
        """Return the first registered record of a stand-in.

        Built-ins are registered first, so that no other package takes over from a broken solver.
        """
        for record in self._records.values():
            if getattr(record, "is_stand_in", False):
                return record
        raise PluginError(
            f"no {self.kind} can take the place of one that failed.",
            hint="Set `is_stand_in` in the record of one.",
        )

    def provider(self, name: str) -> str:
        """Return the provider of a name, with its version."""
        return self._providers[name]

    def title(self, name: str) -> str:
        """Return the kind, the name and the provider in words; an unknown name raises."""
        if name not in self._providers:
            self.get(name)
        return f"{self.kind} '{name}' ({self._providers[name]})"

    def __contains__(self, name: object) -> bool:
        return name in self._records

    def __iter__(self) -> Iterator[RecordT]:
        return iter(sorted(self._records.values(), key=lambda record: record.name))

    def __len__(self) -> int:
        return len(self._records)
