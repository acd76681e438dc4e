"""A watch kills what is over its memory, and nothing that only seems so for a moment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from automl_admm.core.evaluations import Status
from automl_admm.execution.child import watch
from automl_admm.execution.child.watch import Bounds, Cause, ChildFolders, Watch


@pytest.mark.parametrize(
    ("looks", "cause"),
    [
        ((9_000_000, 500_000), None),
        ((9_000_000, 8_000_000), Cause(Status.MEMOUT, "used 8 of 1 MB")),
    ],
    ids=["a fork ended in between", "over it"],
)
def test_memory_over_the_limit_is_looked_at_twice(
    looks: tuple[int, ...], cause: Cause | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Shared as one process was read, a page may be of the next alone: its fork has ended."""
    seen = iter(looks)
    monkeypatch.setattr(watch, "own_memory", lambda process: (9_000_000, 9_000_000))
    monkeypatch.setattr(watch, "exact_memory", lambda tree, inherited: next(seen))
    bounds = Bounds(memory_bytes=1_000_000)
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as child:
        watched = Watch(child.pid, ChildFolders(tmp_path, tmp_path), bounds, begun=0.0)
        watched.check(0.0)
        child.kill()
    assert watched.cause == cause
