"""While a program imports, garbage is not collected and signals wait."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from importlib import import_module, metadata

import narwhals.plugins
import numpy as np
import pandas as pd
import pytest
from sklearn.utils import check_array

from automl_admm.execution.quick_imports import import_for_frames, importing


def test_collection_comes_back_after_a_failure_and_stays_off_where_it_was_off() -> None:
    for enable, expected in ((gc.enable, True), (gc.disable, False)):
        enable()
        try:
            with pytest.raises(ImportError), importing():
                import_module("automl_admm.nowhere")
            assert gc.isenabled() is expected
        finally:
            gc.enable()
            gc.unfreeze()


def test_importing_the_library_freezes_nothing_in_the_process_of_a_user() -> None:
    program = "import gc, automl_admm.api; print(gc.get_freeze_count(), gc.isenabled())"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["0", "True"]


def test_a_signal_waits_until_the_imports_are_through() -> None:
    passed = False

    def interrupted_inside() -> None:
        nonlocal passed
        with importing():
            os.kill(os.getpid(), signal.SIGINT)
            sum(range(1000))
            passed = True

    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted_inside()
    finally:
        gc.unfreeze()
    assert passed


def test_the_first_look_at_a_table_is_taken_before_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    narwhals.plugins._discover_entrypoints.cache_clear()
    import_for_frames()

    def refuse(**given: str) -> None:
        raise AssertionError("an evaluation reads a file of each distribution")

    monkeypatch.setattr(metadata, "entry_points", refuse)
    for table in (np.ones((2, 1)), pd.DataFrame({"number": [1.0]})):
        check_array(table)
