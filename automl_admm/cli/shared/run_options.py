"""The options of a run on the command line, made from their record."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import click

from automl_admm.cli.shared.param_types import DURATION, MEMORY, SHARE
from automl_admm.cli.shared.screen import say
from automl_admm.data.reading.file_options import FileOptions, file_options
from automl_admm.runs.option_record import Kind, Option
from automl_admm.runs.options import OPTIONS
from automl_admm.runs.search_options import SearchOptions

Command = TypeVar("Command", bound=Callable[..., Any])
# Stands for None in a choice that a run can make by itself.
AUTO = "auto"
# A name, a number, and a comma or the end. A negative number is refused later, with a reason.
COLUMN_COST = re.compile(
    r"(?P<name>.+?)\s*=\s*(?P<cost>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?:,\s*|$)"
)
FILE_OPTION_NAMES = frozenset({"separator", "decimal", "encoding"})
METAVARS: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.SECONDS: "TIME",
        Kind.BYTES: "SIZE",
        Kind.WHOLE: "N",
        Kind.SHARE: "SHARE",
        Kind.PART: "NAME[:k=v,…]",
        Kind.PARTS: "NAME[:k=v,…]",
        Kind.SCORER: "NAME",
        Kind.LABEL: "LABEL",
        Kind.LIMITS: "TEXT",
        Kind.COLUMNS: "COL=KIND",
        Kind.STARTS: "TEXT|FILE",
        Kind.RUNS: "RUN",
        Kind.FOLDS: "K|SHARE",
        Kind.FILE: "FILE",
        Kind.FOLDER: "DIR",
        Kind.NAME: "NAME",
        Kind.COST: "fn=X,fp=Y|A->B=X,…",
        Kind.COSTS: "COL=COST[,…]",
    }
)


# Options of these kinds may be repeated.
LISTS = frozenset({Kind.LIMITS, Kind.STARTS, Kind.RUNS, Kind.COLUMNS, Kind.PARTS, Kind.COSTS})


class WholeBytes(click.ParamType):  # type: ignore[type-arg] # older click cannot be subscripted
    """A size, as a whole number of bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a size such as 2GB."""
        return int(MEMORY.convert(value, param, ctx))


class Folds(click.ParamType):  # type: ignore[type-arg] # older click cannot be subscripted
    """A number of folds, or the share of a holdout."""

    name = "folds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float:
        """Read a whole number as folds, any other number and what is in percent as a share."""
        number = SHARE.convert(value, param, ctx)
        is_share = "%" in str(value) or not number.is_integer()
        return number if is_share else int(number)


class ColumnAndKind(click.ParamType):  # type: ignore[type-arg] # older click cannot be subscripted
    """The name of a column and its kind; the name may hold signs of equality."""

    name = "column"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Part them at the last sign of equality."""
        name, sign, kind = str(value).rpartition("=")
        if not sign or not name:
            self.fail(f"'{value}' names no kind; write it as \"zip=category\".", param, ctx)
        return name, kind.strip()


class ColumnCosts(click.ParamType):  # type: ignore[type-arg] # older click cannot be subscripted
    """Columns and their costs; a name may hold commas, and signs of equality but at its end."""

    name = "costs"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[tuple[str, float], ...]:
        """Part them at the commas behind a number."""
        found, said = [], str(value)
        while said:
            match = COLUMN_COST.match(said)
            if match is None:
                self.fail(
                    f"'{said}' gives no column its cost; write \"age=1,test=40\".", param, ctx
                )
            found.append((match["name"].strip(), float(match["cost"])))
            said = said[match.end() :]
        return tuple(found)


class Start(click.ParamType):  # type: ignore[type-arg] # older click cannot be subscripted
    """The text of a pipeline, or a file with one pipeline a line."""

    name = "start"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | Path:
        """Take a text with a parenthesis as a pipeline, unless a file has that name."""
        del param, ctx
        # `Path.is_file` raises where a name is too long for one, as the text of a pipeline may be.
        is_file = os.path.isfile(value)  # noqa: PTH113
        return value if "(" in str(value) and not is_file else Path(value)


def _type_of(option: Option) -> Any:
    types: Mapping[Kind, Any] = {
        Kind.SECONDS: DURATION,
        Kind.BYTES: WholeBytes(),
        Kind.WHOLE: int,
        Kind.SHARE: SHARE,
        Kind.FLAG: bool,
        Kind.CHOICE: click.Choice(choices_of(option)),
        Kind.STARTS: Start(),
        Kind.COLUMNS: ColumnAndKind(),
        Kind.COSTS: ColumnCosts(),
        Kind.FOLDS: Folds(),
        Kind.FOLDER: click.Path(path_type=Path),
    }
    return types.get(option.kind, str)


def choices_of(option: Option) -> tuple[str, ...]:
    """Return the texts of a choice; `auto` stands for the default None."""
    return option.choices if option.default is not None else (AUTO, *option.choices)


def run_option(option: Option, *, at_resume: bool = False, **attributes: Any) -> click.Option:
    """Return the click option of an option of a run; `attributes` replace its own.

    At resume a missing option keeps the value of the run, so it has no default.
    """
    assert option.flag is not None  # noqa: S101 - the callers choose options that have a flag
    is_list = option.kind in LISTS
    default = None if at_resume or is_list else _default_of(option)
    made: dict[str, Any] = {
        "type": _type_of(option),
        "metavar": option.metavar or METAVARS.get(option.kind),
        "help": option.resume_help if at_resume else option.help,
        "is_flag": option.kind is Kind.FLAG,
        # A flag turns its default: `--no-racing` is False.
        **({"flag_value": not option.default} if option.kind is Kind.FLAG else {}),
        "multiple": is_list,
        "default": default,
        "show_default": default is not None
        and option.kind is not Kind.FLAG
        and "[default:" not in option.help,
    }
    return click.Option((option.flag, option.name), **made | attributes)


def _default_of(option: Option) -> Any:
    if option.kind is Kind.CHOICE and option.default is None:
        return AUTO
    return option.default if option.command_default is None else option.command_default


def add_options(*options: click.Option) -> Callable[[click.Command], click.Command]:
    """Return a decorator: it puts these options before the command's own."""

    def add(command: click.Command) -> click.Command:
        arguments = [one for one in command.params if isinstance(one, click.Argument)]
        own = [one for one in command.params if one not in arguments]
        command.params = [*arguments, *options, *own]
        return command

    return add


_SEARCH = frozenset(one.name for one in fields(SearchOptions))
# The pipelines and limits first, then the time, the solvers and the machine.
FIT_OPTIONS = tuple(
    sorted(
        (option for option in OPTIONS if option.flag is not None),
        key=lambda option: option.name in _SEARCH,
    )
)
RESUME_OPTIONS = tuple(option for option in FIT_OPTIONS if option.resume_help is not None)

# How a data file is written.
FILE_OPTIONS = tuple(option for option in FIT_OPTIONS if option.name in FILE_OPTION_NAMES)


def with_file_options(command: click.Command) -> click.Command:
    """Add the options for reading a data file, before the own ones of a command."""
    return add_options(*(run_option(option) for option in FILE_OPTIONS))(command)


def option_named(name: str) -> Option:
    """Return an option by its name in Python, for another command that offers it."""
    return next(option for option in FIT_OPTIONS if option.name == name)


def file_options_given(
    options: Mapping[str, Any],
    columns: Iterable[str | None] = (),
    exact: Iterable[str | None] = (),
) -> FileOptions:
    """Return what a user says of a data file; what is found in it is said on stderr.

    `columns` are names that the user gave, beside those of `--column`; `exact` are the columns
    whose infinite numbers stay.
    """
    given = {option.name: _setting(option, options[option.name]) for option in FILE_OPTIONS}
    names = {name for name in columns if name is not None}
    asked = names.union(name for name, _ in options.get("columns", ()))
    kept = frozenset(name for name in exact if name is not None)
    return replace(file_options(**given, tell=partial(say, err=True)), sole=asked, exact=kept)


def settings_given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a run as `RunConfig` takes them, from the parsed options of `fit`."""
    return {option.name: _setting(option, options[option.name]) for option in FIT_OPTIONS}


def is_given(value: object) -> bool:
    """Return False for the value of an option that the user left out at resume; 0 is a value."""
    return value is not None and value is not False and value != ()


def _setting(option: Option, value: Any) -> Any:
    """Return None for the choice `auto` where None is the default; else `auto` is a text."""
    if option.kind is Kind.COLUMNS:
        return kinds_given(value) or None
    if option.kind is Kind.COSTS:
        pairs = ((name, cost) for some in value for name, cost in some)
        told = "--column-cost gives '{}' the costs {:g} and {:g}. Keep one."
        return _one_each(pairs, told) or None
    stands_for_none = option.kind is Kind.CHOICE and option.default is None
    return None if stands_for_none and value == AUTO else value


def kinds_given(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the kinds of columns; raise if one is given two."""
    return _one_each(pairs, "--column gives '{}' the kinds {} and {}. Keep one.")


def _one_each(pairs: Iterable[tuple[str, Any]], told: str) -> dict[str, Any]:
    """Return the values of columns; raise if one is given two."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if found.setdefault(name, value) != value:
            raise click.UsageError(told.format(name, found[name], value))
    return found
