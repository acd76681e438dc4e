"""Records by name, each with its provider."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Owner:
    """A claim on a name: the distribution of a record, and the plugin in it."""

    provider: str
    plugin: str = ""

    def and_(self, other: Owner) -> str:
        """Tell two claims apart, by the plugin where the distribution is the same."""
        if self.provider != other.provider:
            return f"{self.provider}, {other.provider}"
        if self.plugin != other.plugin:
            return f"{self.provider} ({self.plugin}), {other.provider} ({other.plugin})"
        return f"by {self.provider} alone"


class Registry(Generic[RecordT]):
    """The records of one kind by name; two records with one name are an error.

    A name that two claim may be withheld: it is listed, and who asks for it is told.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._records: dict[str, RecordT] = {}
        self._owners: dict[str, Owner] = {}
        self._claims: dict[str, Owner] = {}

    def add(self, record: RecordT, provider: str, plugin: str = "") -> None:
        """Register a record; a taken name raises an error that names both providers."""
        if record.name in self._records:
            raise self.doubled(record.name, provider, plugin)
        self._records[record.name] = record
        self._owners[record.name] = Owner(provider, plugin)

    def doubled(
        self, name: str, provider: str, plugin: str = "", taken_by: str | None = None
    ) -> DoubledNameError:
        """Return the error of a second claim on a name; `taken_by` claims it without a record."""
        second = Owner(provider, plugin)
        first = self._owners.get(name, second) if taken_by is None else Owner(taken_by)
        hint = "Uninstall one of them, or name those to load in AUTOML_ADMM_PLUGINS."
        if provider == HERE:
            hint = "Give yours another name."
        elif taken_by is not None:
            hint = f"Uninstall {provider.partition(' ')[0]}, or let it have another name."
        elif first == second:
            hint = "Give one of the two another name."
        return DoubledNameError(
            f"{self.kind} '{name}' is provided twice: {first.and_(second)}.", hint=hint
        )

    def withhold(self, name: str, provider: str, plugin: str = "") -> None:
        """Withhold a name claimed by a second provider; asking for it raises the reason."""
        self._claims[name] = Owner(provider, plugin)

    def withheld_of(self, plugin: str) -> Iterator[tuple[str, DoubledNameError]]:
        """Yield the names of a plugin that are withheld, each with the reason."""
        for name, second in self._claims.items():
            if self._owners[name].plugin == plugin:
                yield name, self.doubled(name, second.provider, second.plugin)

    def get(self, name: str) -> RecordT:
        """The record of a name; an unknown name raises with the nearest known one."""
        if name in self._claims:
            second = self._claims[name]
            raise self.doubled(name, second.provider, second.plugin)
        if name not in self._records:
            raise UnknownNameError(self.kind, name, self._records)
        return self._records[name]

    def without(self, names: Collection[str]) -> Registry[RecordT]:
        """Return a registry without some names."""
        found: Registry[RecordT] = Registry(self.kind)
        for name, record in self._records.items():
            if name not in names:
                owner = self._owners[name]
                found.add(record, owner.provider, owner.plugin)
        for name, second in self._claims.items():
            found.withhold(name, second.provider, second.plugin)
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
        return self._owners[name].provider

    def title(self, name: str) -> str:
        """Return the kind, the name and the provider in words; an unknown name raises."""
        if name not in self._owners:
            self.get(name)
        return f"{self.kind} '{name}' ({self._owners[name].provider})"

    def __contains__(self, name: object) -> bool:
        return name in self._records

    def __iter__(self) -> Iterator[RecordT]:
        return iter(sorted(self._records.values(), key=lambda record: record.name))

    def __len__(self) -> int:
        return len(self._records)
