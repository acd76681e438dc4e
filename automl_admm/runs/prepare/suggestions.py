"""Suggest names of other kinds and the package with a missing part."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata

from automl_admm.core.errors import Remedy, UnknownNameError
from automl_admm.plugins.loading import ONLY, OUR_PLUGINS, Plugins
from automl_admm.plugins.plugin_options import split_request
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import STRATEGIES


def check_parts(config: RunConfig, plugins: Plugins) -> None:
    """Raise if a solver, the strategy or the executor is missing, and suggest a remedy."""
    known = _known(plugins)
    for setting, names in known.items():
        name, _ = split_request(getattr(config, setting))
        if name not in names:
            hint = _of_another_kind(name, known) or whence(name, plugins)
            raise UnknownNameError(_words(setting), name, names, hint=hint)


def _known(plugins: Plugins) -> dict[str, set[str]]:
    """Return the known names, by setting."""
    return {
        "strategy": set(STRATEGIES),
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
    for package, names in OUR_PLUGINS.items():
        if name in names:
            for info in plugins.infos:
                if info.provider.startswith(f"{package} "):
                    return f"{info.provider} would bring it, and {info.state}."
            if _is_installed(package):
                return f"{package} brings it, but {ONLY} leaves it out."
            return f"{package} brings it: pip install ./plugins/{package}"
    return None


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
