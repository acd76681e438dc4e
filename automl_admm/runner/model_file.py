"""Loading the pipeline of a run: the hash first, then the types in it, then the file."""

from __future__ import annotations

import hashlib
from typing import Any
from zipfile import BadZipFile

from automl_admm.errors import StoreError
from automl_admm.evaluation.saving import import_skops
from automl_admm.plugins import Plugins, load_plugins
from automl_admm.runner.trusted_types import TRUSTED
from automl_admm.store.folder import RunFolder


def load_model(folder: RunFolder) -> Any:
    """The fitted pipeline of a run folder.

    A file whose hash is not the manifest's, or that names a type which is neither trusted by
    skops, nor on our list, nor named by the plugin of an installed component, is refused before
    anything of it is loaded.
    """
    manifest = folder.read(folder.model_manifest)
    try:
        content = folder.model.read_bytes()
    except OSError as problem:
        raise StoreError(f"'{folder.model}' cannot be read: {problem.strerror}.") from problem
    if hashlib.sha256(content).hexdigest() != manifest.get("sha256"):
        hint = "It was changed or cut off after the run: fit again."
        raise StoreError(f"'{folder.model}' is not the file that the run wrote.", hint=hint)
    return _load(folder, content)


def _load(folder: RunFolder, content: bytes) -> Any:
    skops = import_skops()
    trusted = trusted_types(load_plugins())
    try:
        strange = sorted(set(skops.get_untrusted_types(data=content)) - trusted)
    except (BadZipFile, KeyError, ValueError) as problem:
        raise StoreError(f"'{folder.model}' is no skops file: {problem}.") from problem
    if strange:
        raise StoreError(
            f"'{folder.model}' holds types that are not trusted: {', '.join(strange)}.",
            hint="Load it with skops.io.load(…, trusted=[…]) if you know where it is from.",
        )
    return skops.loads(content, trusted=sorted(trusted))


def trusted_types(plugins: Plugins) -> frozenset[str]:
    """What the components that ship consist of, and what plugins say of theirs."""
    records = (record for registry in plugins.components.values() for record in registry)
    return TRUSTED.union(*(record.trusted_types for record in records))
