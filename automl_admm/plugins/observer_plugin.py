"""The record of an observer: told about a run that asks for it by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from automl_admm.plugins.record_with_options import RecordWithOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverPlugin(RecordWithOptions):
    """An observer by name, for runs that ask for it: `--observer NAME:key=value`.

    The factory gets the options, at the begin of a run, and returns an object with methods named
    like the observing hooks, such as `evaluation_finished`. Hooks of a plugin itself hear of every
    run.

    >>> ObserverPlugin(name="bell", summary="rings at the end", factory=lambda options: None).name
    'bell'
    """

    factory: Callable[[Any], object]
