"""Files of a task on their way from a worker to the run."""

from __future__ import annotations

import io
import tarfile

import pytest

from automl_admm.execution.remote.letters import pack, unpack


def test_packed_files_stay_below_their_folder(tmp_path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("../outside"))
    with pytest.raises(tarfile.FilterError):
        unpack(buffer.getvalue(), tmp_path)


def test_what_is_packed_is_unpacked(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / "a.txt").write_text("a")
    (tmp_path / "one" / "task.pickle").write_text("the task itself")
    unpack(pack(tmp_path / "one"), tmp_path / "other")
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["a.txt"]
