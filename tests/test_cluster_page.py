"""The recipe for SLURM makes the job script that it promises; no SLURM is needed for that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "how_to" / "cluster.md"


def recipe() -> str:
    text = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(r"^<!-- slurm -->\n```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return str(code)


def test_the_recipe_is_python() -> None:
    compile(recipe(), "cluster.md", "exec")


def test_the_recipe_makes_a_job_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue")
    dask = pytest.importorskip("dask")
    monkeypatch.setenv("HOME", str(tmp_path))
    known: dict[str, Any] = {}
    exec(recipe(), known)  # noqa: S102 - what the page shows
    # The usual port of the dashboard may be taken on the machine of the tests.
    free_port = {"jobqueue.slurm.scheduler-options": {"dashboard_address": ":0"}}
    with dask.config.set(free_port), known["ask_for_workers"]() as cluster:
        script = cluster.job_script()
    lines = script.splitlines()
    for line in ("-p normal", "-A my_project", "-t 01:00:00", "--cpus-per-task=4", "--mem=15G"):
        assert f"#SBATCH {line}" in lines
    assert "source ~/automl/bin/activate" in lines
    assert "--nthreads 1" in script
    assert "--nworkers 4" in script
    assert "--lifetime 55m" in script
    assert "tcp://" in script
