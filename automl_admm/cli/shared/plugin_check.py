"""The check of plugins: what a name stands for, a process that asks, and the outcome."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from automl_admm.cli.shared.screen import hand_on_json, say
from automl_admm.cli.shared.text_table import print_table
from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.execution.task_report import describe_exit
from automl_admm.plugins.loading import FAILED, RECORDS, PluginInfo, Plugins
from automl_admm.plugins.plugin_options import build_options, split_request
from automl_admm.plugins.registry import Registry
from automl_admm.runs.prepare.suggestions import whence, with_article

BROKEN = 1
Promise = Mapping[str, str]
Subject = tuple[str, str]


def subjects_of(plugins: Plugins, request: str) -> list[Subject]:
    """Return what a name stands for: records with it, or all that a plugin with it provides.

    Each is a hook and a request. An unknown name raises, as does a wrong option.
    """
    name, given = split_request(request)
    found = list(_records(plugins, name, request, given))
    infos = {info.name: info for info in plugins.infos}
    if name in infos and not given:
        found += [one for one in _of_plugin(plugins, infos[name]) if one not in found]
    if not found:
        raise UnknownNameError("plugin", name, _names(plugins), hint=whence(name, plugins))
    return found


def _records(
    plugins: Plugins, name: str, request: str, given: Mapping[str, str]
) -> Iterator[Subject]:
    """Yield the records of a name, one for each hook and task."""
    for place, registry in _registries(plugins):
        if name not in registry:
            continue
        options = getattr(registry.get(name), "options", None)
        if options is not None:
            build_options(name, options, given)
        elif given:
            title = with_article(registry.kind)
            raise ConfigurationError(f"'{name}' is {title}, and takes no options.")
        yield place, request


def _registries(plugins: Plugins) -> Iterator[tuple[str, Registry[Any]]]:
    for hook in RECORDS:
        if hook == "components":
            yield from ((f"components:{task}", one) for task, one in plugins.components.items())
        else:
            yield from ((hook, one) for one, _ in plugins.registries(hook))


def _of_plugin(plugins: Plugins, info: PluginInfo) -> Iterator[Subject]:
    """Yield all that a plugin provides, and itself if it observes; raise if it cannot be loaded."""
    if info.state.startswith(FAILED):
        reason = info.state.removeprefix(FAILED)
        raise ConfigurationError(f"plugin '{info.name}' cannot be loaded: {reason}")
    for place, registry in _registries(plugins):
        for name in info.provides.get(place.partition(":")[0], ()):
            if name in registry:
                yield place, name
    if info.hears:
        yield "observing", info.name


def _names(plugins: Plugins) -> set[str]:
    records = {record.name for _, registry in _registries(plugins) for record in registry}
    return records | {info.name for info in plugins.infos}


def ask_promises(request: str, subjects: Sequence[Subject], *, learns: bool) -> list[Promise]:
    """Ask in a process of its own: a plugin that hangs or crashes breaks only the check."""
    flags = [] if learns else ["--no-progress"]
    # Without assertions everything would be kept.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONOPTIMIZE"}
    with tempfile.TemporaryDirectory(prefix="automl-admm-check-") as folder:
        # -P: a file of the working folder must not be taken for a module that is needed.
        words = [sys.executable, "-P", "-m", "automl_admm.testing.check", *flags, folder]
        done = subprocess.run(  # noqa: S603 - this interpreter, our own module
            [*words, *("=".join(subject) for subject in subjects)],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        results = Path(folder) / "promises.json"
        found = json.loads(results.read_text(encoding="utf-8")) if results.exists() else []
    if not found:
        message = f"the check of '{request}' broke off ({describe_exit(done.returncode)}):"
        said = done.stderr.strip().splitlines() or ["nothing was said."]
        raise ConfigurationError(message, hint=said[-1])
    promises: list[Promise] = found
    return promises


def tell_promises(request: str, promises: Sequence[Promise], *, as_json: bool) -> int:
    """Print the outcome and return the exit code: 1 if a promise is broken."""
    states = [promise["state"] for promise in promises]
    if as_json:
        hand_on_json({"request": request, "promises": promises})
    else:
        keys = ("kind", "name", "promise", "state", "why")
        print_table(keys, [[promise[key] for key in keys] for promise in promises])
        count = {state: states.count(state) for state in ("kept", "broken", "not asked")}
        others = f", {count['not asked']} not asked" if count["not asked"] else ""
        say(f"{request}: {count['kept']} promises kept, {count['broken']} broken{others}")
    return BROKEN if "broken" in states else 0
