"""The options of a limit: checked, and written in one form; their places in a listing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from automl_admm.constraints.parse import OPTION_EXAMPLE, LimitCode
from automl_admm.constraints.syntax import WrittenLimit
from automl_admm.core.errors import ConfigurationError, Remedy, suggest
from automl_admm.grammar.diagnostics import Diagnostic, render
from automl_admm.plugins.configured import configure
from automl_admm.plugins.plugin_options import write_options
from automl_admm.plugins.records import ConstraintPlugin, NoOptions


def written_name(record: ConstraintPlugin) -> str:
    """Return the name of a constraint with places for its options and for all that it needs."""
    number = "" if record.numbered is None else "_N"
    classes = ("true", "predicted") if record.target == "class pair" else ()
    names = [f"{name}=…" for name in (*classes, *(one.name for one in fields(record.options)))]
    braces = f"{{{','.join(names)}}}" if names else ""
    whole = configure(record, {})
    named = (whole.grouped, whole.columned, whole.changing)
    column = "[column]" if any(one is not None for one in named) else ""
    return f"{record.name}{number}{braces}{column}"


def with_known_options(written: WrittenLimit, record: ConstraintPlugin | None) -> WrittenLimit:
    """Return the limit with its options in one form; raise for one that its measure has not."""
    if not written.options:
        return written
    kind = NoOptions if record is None else record.options
    known = tuple(one.name for one in fields(kind))
    for option in written.options:
        if option.name not in known:
            message = f"'{written.measure}' has no option '{option.name}'"
            hint = suggest(option.name, known) if known else OPTION_EXAMPLE
            mistake = Diagnostic(LimitCode.OPTION, option.place, message, hint)
            raise ConfigurationError(render([mistake], written.text, "limit"))
    given = {option.name: option.value for option in written.options}
    texts = write_options(written.measure, kind, given)
    options = tuple(replace(option, value=texts[option.name]) for option in written.options)
    return replace(written, options=options)


def demand_no_number(record: ConstraintPlugin) -> ConstraintPlugin:
    """Return a constraint that is complete without a number; raise for any other."""
    if record.numbered is None:
        return record
    raise ConfigurationError(
        f"'{record.name}' needs a number after its name.",
        hint=f"Write '{record.name}_N' with the number for N: {record.summary}.",
    )


def with_setting(record: ConstraintPlugin, settings: Mapping[str, Any]) -> ConstraintPlugin:
    """Return a constraint complete with its run option; raise if the user did not give it."""
    if record.by_setting is None:
        return record
    value = settings.get(record.setting)
    if value is None:
        raise ConfigurationError(
            f"the limit '{record.name}' lacks what it is measured by: {record.summary}.",
            hint=Remedy(f"Give {{{record.setting}}}."),
        )
    return record.by_setting(value)
