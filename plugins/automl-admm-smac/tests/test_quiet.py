from __future__ import annotations

import logging
import threading
import warnings

import pytest
from automl_admm_smac.quiet import SILENT, quiet

SMAC = logging.getLogger("smac")


def test_whoever_leaves_last_restores() -> None:
    """One comes first and leaves first, in a thread of its own; the other one is still inside."""
    before = (SMAC.level, list(warnings.filters))
    is_inside, may_leave = threading.Event(), threading.Event()

    def come_first() -> None:
        with quiet():
            is_inside.set()
            may_leave.wait(60)

    first = threading.Thread(target=come_first)
    first.start()
    assert is_inside.wait(60)
    with quiet():
        may_leave.set()
        first.join()
        assert SMAC.level == SILENT
        assert warnings.filters[0][0] == "ignore"
    assert (SMAC.level, list(warnings.filters)) == before


def test_many_threads_leave_no_trace() -> None:
    before = (SMAC.level, list(warnings.filters))

    def come_and_go() -> None:
        for _ in range(200):
            with quiet(), quiet():
                pass

    threads = [threading.Thread(target=come_and_go) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (SMAC.level, list(warnings.filters)) == before


def test_an_error_leaves_no_trace() -> None:
    before = (SMAC.level, list(warnings.filters))
    with pytest.raises(KeyError), quiet():
        raise KeyError
    assert (SMAC.level, list(warnings.filters)) == before
