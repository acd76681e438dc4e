"""The record of one option of a run, and the kinds of values that options have."""

from __future__ import annotations

from dataclasses import Field, dataclass, field, replace
from enum import Enum, auto
from typing import Any

# The key of an option in the metadata of its field.
OPTION = "option"


class Kind(Enum):
    """The kind of an option's value: it decides how the value is read, checked and saved."""

    SECONDS = auto()
    BYTES = auto()
    WHOLE = auto()
    SHARE = auto()
    FLAG = auto()
    CHOICE = auto()
    PART = auto()
    PARTS = auto()
    SCORER = auto()
    LABEL = auto()
    LIMITS = auto()
    COLUMNS = auto()
    STARTS = auto()
    RUNS = auto()
    FOLDS = auto()
    FILE = auto()
    FOLDER = auto()
    NAME = auto()
    COST = auto()
    COSTS = auto()
    OBJECTS = auto()


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a run.

    `flag` is its name on the command line, None if the command line does not offer it; `words`
    name it in messages. `command_default` is the default of the command line if it differs from
    the `default` in Python. `resume_help` is the help of the command `resume`, None if `resume`
    does not offer the option. `compared_as` is the key in the settings of `run.json` that must not
    change at resume unless the user allows it; None if the option may change freely. `is_saved` is
    False for options outside the request in `run.json`. `name`, the name in Python, in `RunConfig`
    and in `run.json`, and `default` are those of the field.
    """

    kind: Kind
    flag: str | None
    help: str
    words: str = ""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    least: int = 1
    command_default: Any = None
    resume_help: str | None = None
    compared_as: str | None = None
    is_saved: bool = True
    name: str = ""
    default: Any = None

    @property
    def assumed(self) -> Any:
        """The value of the command line where nobody gives the option."""
        return self.default if self.command_default is None else self.command_default

    def of(self, one: Field[Any]) -> Option:
        """Return the option with the name and the default of its field."""
        return replace(self, name=one.name, words=self.words or one.name, default=one.default)


def option(kind: Kind, flag: str | None, said: str, *, default: Any, **more: Any) -> Any:
    """Return the field of an option; `said` is its help, and `more` the rest of its record."""
    return field(default=default, metadata={OPTION: Option(kind, flag, said, **more)})
