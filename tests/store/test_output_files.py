"""Outputs into what is no file: all of it arrives, and nothing is left beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from automl_admm.core.errors import StoreError
from automl_admm.store.output_files import open_output, write_output


def write_at_once(path: Path, content: bytes) -> None:
    with open_output(path) as stream:
        stream.write(content)


@pytest.mark.parametrize("write", [write_at_once, write_output])
def test_a_link_may_lead_to_a_pipe_as_the_standard_output_does(
    tmp_path: Path, write: Callable[[Path, bytes], None]
) -> None:
    """Resolved, the link is a name such as pipe:[81], which nobody can open."""
    reading, writing = os.pipe()
    link = tmp_path / "link"
    link.symlink_to(f"/dev/fd/{writing}")
    write(link, b"all of it")
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        assert stream.read() == b"all of it"
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


@pytest.mark.parametrize("write", [write_at_once, write_output])
def test_a_link_to_a_file_stays_one(tmp_path: Path, write: Callable[[Path, bytes], None]) -> None:
    (tmp_path / "link").symlink_to("file")
    write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.parametrize("write", [write_at_once, write_output])
def test_a_link_to_itself_is_told_and_stays(
    tmp_path: Path, write: Callable[[Path, bytes], None]
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(StoreError, match="it is a link that leads to itself"):
        write(tmp_path / "loop", b"new")
    assert (tmp_path / "loop").is_symlink()
