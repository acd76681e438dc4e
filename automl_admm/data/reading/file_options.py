"""Options of a data file: what a user says of it in place of what is found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from automl_admm.core.errors import ConfigurationError
from automl_admm.data.reading.named_encoding import NamedEncoding

SEPARATORS: Mapping[str, str] = MappingProxyType(
    {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "blanks": " "}
)
DECIMALS: Mapping[str, str] = MappingProxyType({"point": ".", "comma": ","})


def drop(words: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class FileOptions:
    """The separator, the decimal sign and the encoding that a user named; None to find it.

    They are of text files alone: other formats say them themselves. `tell` gets a line on what was
    found, and `note` the encoding of a text by its bytes, whichever was named. With `had_commas`
    the training file had decimal commas: then the likes of 1.234 do not tell. Each name in `sole`
    must be that of one column; `known` are the columns of training.
    Infinite numbers stay in the columns `exact`, to be told as such; in others they are missing.
    `encoding_before` is the one named for the training file; where it `must_be_sure`, text of
    either this one or UTF-8 is refused.
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    tell: Callable[[str], None] = drop
    note: Callable[[str], None] = drop
    had_commas: bool = False
    sole: Collection[str] = ()
    known: Collection[str] | None = None
    exact: Collection[str] = ()
    encoding_before: NamedEncoding | None = None
    must_be_sure: bool = False

    @property
    def asked(self) -> frozenset[str]:
        """The names of columns that the user gave, or that training had."""
        return frozenset(self.sole).union(self.known or ())


NO_OPTIONS = FileOptions()


def file_options(
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    tell: Callable[[str], None] = drop,
) -> FileOptions:
    """Check the options as a user writes them, by name or by sign."""
    if encoding is not None:
        check_encoding(encoding)
    return FileOptions(
        _sign("the separator", separator, SEPARATORS),
        _sign("the decimal sign", decimal, DECIMALS),
        encoding,
        tell,
    )


def check_encoding(encoding: str) -> None:
    """Raise unless it is an encoding of text, unlike base64, or idna of single words."""
    try:
        "a".encode(encoding, "ignore")
    except (LookupError, ValueError) as problem:
        raise ConfigurationError(
            f"there is no encoding '{encoding}'.",
            hint="Known are: utf-8, latin-1, cp1250 and more.",
        ) from problem


def _sign(what: str, given: str | None, named: Mapping[str, str]) -> str | None:
    if given is None:
        return None
    # A shell gives a tab as the two signs of its escape.
    sign = named.get(given.lower(), "\t" if given == r"\t" else given)
    if sign not in named.values():
        known = ", ".join(named)
        raise ConfigurationError(f"{what} cannot be '{given}'.", hint=f"Known are: {known}.")
    return sign
