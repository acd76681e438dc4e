"""Refuse an option that says what is learned, if it is given twice; click would take the last one.

The last value of other options wins, so that a script or an alias can set them beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

# With another value of one of these a run answers another question.
QUESTION = frozenset(
    {"--target", "--weight", "--group", "--time", "--metric", "--positive", "--cost"}
)


class SingleValued(click.Option):
    """An option with one value, of which the parser keeps all that were given."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Have the parser gather the values in a list."""
        del ctx
        parser.add_option(
            obj=self, opts=self.opts, dest=self.name, action="append", nargs=self.nargs
        )

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """Return the value; raise if there are several."""
        given = opts.get(str(self.name))
        if not isinstance(given, list):
            return super().consume_value(ctx, opts)
        # A shell that completes a line asks with lines that are not finished.
        if any(value != given[0] for value in given) and not ctx.resilient_parsing:
            flag, values = max(self.opts, key=len), " and ".join(f"'{one}'" for one in given)
            raise click.UsageError(f"{flag} takes one value and is given {values}. Keep one.", ctx)
        return super().consume_value(ctx, {**opts, str(self.name): given[-1]})


def refuse_repeats(command: click.Command) -> None:
    """Let these options of a command, and of those below it, be given once.

    Options that may be repeated, and those of a class of their own, stay.
    """
    for option in command.params:
        is_asked = type(option) is click.Option and not QUESTION.isdisjoint(option.opts)
        if is_asked and not option.multiple:
            # A command may come from a plugin, so that its options are made already.
            option.__class__ = SingleValued
    if isinstance(command, click.Group):
        for below in command.commands.values():
            refuse_repeats(below)
