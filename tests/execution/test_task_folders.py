from __future__ import annotations

import os
import sys

import psutil
import pytest

from automl_admm.execution.child import process_tree as processes
from automl_admm.execution.task_folders import is_within, read_regular, remove_tree


def test_what_lies_in_folders_is_counted(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    (one / "below").mkdir(parents=True)
    two.mkdir()
    for place in (one / "a", one / "below" / "b", two / "c"):
        place.write_bytes(bytes(100_000))
    assert is_within((one, two), 400_000, 4, 9)
    assert not is_within((one, two), 299_999, 4, 9)
    assert not is_within((one, two), 400_000, 3, 9)
    assert is_within((two,), 150_000, 1, 9)
    assert is_within((tmp_path / "nowhere",), 0, 0, 9)


@pytest.mark.skipif(sys.platform != "linux", reason="not every file system knows holes")
def test_a_hole_takes_no_room_and_a_link_leads_nowhere(tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "root").symlink_to("/")
    assert is_within((tmp_path,), 1_000_000, 2, 9)


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


def test_folders_may_not_be_deeper_than_allowed(tmp_path):
    (tmp_path / "1" / "2" / "3").mkdir(parents=True)
    assert is_within((tmp_path,), 1_000_000, 9, 3)
    assert not is_within((tmp_path,), 1_000_000, 9, 2)


def test_what_cannot_be_read_is_removed_and_links_are_not_followed(tmp_path):
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "kept").write_text("of somebody else")
    top = tmp_path / "top"
    (top / "closed" / "below").mkdir(parents=True)
    (top / "closed").chmod(0)
    (top / "link").symlink_to(tmp_path / "else")
    remove_tree(top)
    assert not top.exists()
    remove_tree(top)
    assert (tmp_path / "else" / "kept").exists()


def test_a_fifo_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="no regular file"):
        read_regular(tmp_path / "fifo")
