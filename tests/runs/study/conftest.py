"""Studies by the dozen: the plugins are looked for once, which takes longer than their trials."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from automl_admm.plugins.loading import load_plugins
from automl_admm.runs import blackbox


@pytest.fixture(autouse=True, scope="package")
def plugins() -> Iterator[object]:
    found = load_plugins()
    patch = pytest.MonkeyPatch()
    patch.setattr(blackbox, "load_plugins", lambda extra: load_plugins(extra) if extra else found)
    yield found
    patch.undo()
