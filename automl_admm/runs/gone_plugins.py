"""Plugins of a run, uninstalled since then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from automl_admm.core.errors import UnknownNameError
from automl_admm.plugins.distributions import version_of
from automl_admm.plugins.registry import HERE

PLUGINS = "plugins"  # the key in run.json, of providers by plugin


@contextmanager
def telling_gone_plugins(content: Mapping[str, Any]) -> Iterator[None]:
    """Name the gone plugins of a run where a name is unknown; `content` is its run.json."""
    try:
        yield
    except UnknownNameError as problem:
        gone = _gone(content)
        if not gone:
            raise
        are, them = ("is", "it") if len(gone) == 1 else ("are", "them")
        told = f"The run had {', '.join(gone)}, which {are} not installed here: install {them}."
        raise UnknownNameError(problem.kind, problem.name, (), hint=told) from problem


def _gone(content: Mapping[str, Any]) -> list[str]:
    providers = content.get(PLUGINS, {})
    known = set(map(str, providers.values() if isinstance(providers, Mapping) else ()))
    return sorted(one for one in known if one != HERE and not version_of(one.partition(" ")[0]))
