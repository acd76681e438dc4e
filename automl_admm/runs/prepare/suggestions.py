"""Suggest names of other kinds and the package with a missing part."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import metadata

from automl_admm.core.errors import Remedy, UnknownNameError
from automl_admm.grammar.compile import NOWHERE
from automl_admm.plugins.loading import ONLY, Plugins, package_of
from automl_admm.plugins.plugin_options import split_request
from automl_admm.runs.config import RunConfig


def check_parts(config: RunConfig, plugins: Plugins) -> None:
    """Raise if a solver, the strategy or the executor is missing, and suggest a remedy."""
    known = _known(plugins)
    for setting, names in known.items():
        name, _ = split_request(getattr(config, setting))
        if name not in names:
            hint = _of_another_kind(name, known) or whence(name, plugins)
            raise UnknownNameError(_words(setting), name, names, hint=hint)


def _known(plugins: Plugins) -> dict[str, set[str]]:
    return {
        "strategy": {record.name for record in plugins.strategies},
        "theta_solver": {record.name for record in plugins.theta_solvers},
        "z_solver": {record.name for record in plugins.z_solvers},
        "executor": {record.name for record in plugins.executors},
    }


def _of_another_kind(name: str, known: Mapping[str, set[str]]) -> Remedy | None:
    for setting, names in known.items():
        if name in names:
            kind = with_article(_words(setting))
            return Remedy(f"'{name}' is {kind}: {{{setting}='{name}'}}.")
    return None


def whence(name: str, plugins: Plugins) -> str | None:
    """Name our package with a missing part, and the way to get it."""
    package = package_of(name)
    if package is None:
        return None
    for info in plugins.infos:
        if info.provider.startswith(f"{package} "):
            return f"{info.provider} would bring it, and {info.state}."
    if _is_installed(package):
        return f"{package} brings it, but {ONLY} leaves it out."
    return f"{package} brings it: pip install ./plugins/{package}"


def tell_left_out(left_out: Mapping[str, str], plugins: Plugins) -> str | None:
    """Name in one line the optional components of a grammar that are left out, and the remedies."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        why = reason or whence(name, plugins) or _nowhere(name, plugins)
        by_reason.setdefault(why.removesuffix("."), []).append(name)
    told = [f"{', '.join(names)} ({reason})" for reason, names in by_reason.items()]
    return f"left out of the grammar: {'; '.join(told)}" if told else None


def _nowhere(name: str, plugins: Plugins) -> str:
    known = {record.name for registry in plugins.components.values() for record in registry}
    near = get_close_matches(name, sorted(known), 1)
    return f"{NOWHERE}; did you mean '{near[0]}'?" if near else NOWHERE


def _is_installed(package: str) -> bool:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def with_article(kind: str) -> str:
    """A kind of thing with its article."""
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _words(setting: str) -> str:
    return setting.replace("_", " ")
