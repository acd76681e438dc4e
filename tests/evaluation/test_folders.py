from __future__ import annotations

import sys

import psutil
import pytest

from automl_admm.evaluation import processes
from automl_admm.evaluation.folders import is_within


def test_what_lies_in_folders_is_counted(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    (one / "below").mkdir(parents=True)
    two.mkdir()
    for place in (one / "a", one / "below" / "b", two / "c"):
        place.write_bytes(bytes(100_000))
    assert is_within((one, two), 400_000, 4)
    assert not is_within((one, two), 299_999, 4)
    assert not is_within((one, two), 400_000, 3)
    assert is_within((two,), 150_000, 1)
    assert is_within((tmp_path / "nowhere",), 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="not every file system knows holes")
def test_a_hole_takes_no_room_and_a_link_leads_nowhere(tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "root").symlink_to("/")
    assert is_within((tmp_path,), 1_000_000, 2)


def test_each_worker_has_its_share_of_the_memory(tmp_path, monkeypatch):
    whole = psutil.virtual_memory().total
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(processes, "CONTAINER_MEMORY", limit)
    for content in (None, "max\n", str(10 * whole)):
        if content is not None:
            limit.write_text(content)
        assert processes.share_of_memory(1) == int(0.9 * whole)
    assert processes.share_of_memory(2) == int(0.9 * whole) // 2
    limit.write_text("1000000000\n")
    assert processes.share_of_memory(3) == 300_000_000
