"""The value `-` of an output: the screen."""

from __future__ import annotations

from pathlib import Path

import click


def or_screen(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Return the path of an output; None for `-`, the screen."""
    del context, parameter
    return None if path == Path("-") else path
