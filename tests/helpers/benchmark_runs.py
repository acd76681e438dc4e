"""Made-up runs of benchmarks, in the place of the file that a page is written from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


def a_run(system: str, name: str, **more: Any) -> dict[str, Any]:
    """Return a run of a system on a set, as its line of the file has it."""
    always = {"seed": 0, "kind": "regression", "load": 1.5, "commit": "abc1234", "exit_code": 0}
    times = {"budget": 60.0, "fit_seconds": 50.0, "row_seconds": 1e-5, "cpu_seconds": 50.0}
    return {"system": system, "set": name, **always, **times, "peak_bytes": 1e8, **more}


@contextmanager
def other_runs(
    page: Any, cached: Any, rows: Iterable[Mapping[str, Any]], folder: Path
) -> Iterator[None]:
    """Let a page be written from these rows; `cached` is its function with what the file holds."""
    file = folder / "runs.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "FILE", file)
        cached.cache_clear()
        try:
            yield
        finally:
            cached.cache_clear()
