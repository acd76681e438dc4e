"""The version of what plugins rely on, and the refusal of a plugin made for another one."""

from __future__ import annotations

import re

from automl_admm.core.errors import PluginError
from automl_admm.core.messages import say_value

# The names of `plugin_api` and the hooks. The first number changes when a plugin may break, the
# second one when there is more.
API_VERSION = "1.0"
VERSION = re.compile(r"(\d+)\.(\d+)")


def check_version(plugin: object, distribution: str) -> None:
    """Raise if a plugin says by `requires_api` that it was made for what is not here."""
    wanted = getattr(plugin, "requires_api", None)
    if wanted is None:
        return
    found = VERSION.fullmatch(wanted) if isinstance(wanted, str) else None
    if found is None:
        raise PluginError(f"its requires_api must read like '1.0', not {say_value(wanted)}.")
    major, minor = map(int, found.groups())
    our_major, our_minor = map(int, API_VERSION.split("."))
    has = f"of the plugin API, and this automl-admm has {API_VERSION}."
    if (major, minor) > (our_major, our_minor):
        hint = "Update it: pip install -U automl-admm"
        raise PluginError(f"it needs version {wanted} {has}", hint=hint)
    if major < our_major:
        hint = f"Update the plugin: pip install -U {distribution}"
        raise PluginError(f"it was made for version {wanted} {has}", hint=hint)
