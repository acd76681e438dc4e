"""A run folder on the network is told of."""

from __future__ import annotations

from pathlib import Path

import pytest

from automl_admm.store.network_fs import kind_of_filesystem, network_notice

MOUNTS = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
31 27 0:41 / /data rw - nfs4 server:/export rw,vers=4.2
32 31 254:1 / /data/fast rw shared:1 - xfs /dev/vdb rw
33 27 0:50 / /my\\040disk rw - fuse.sshfs me@there: rw
34 27 0:51 / /twice rw - ext4 /dev/vdc rw
35 34 0:52 / /twice rw - cifs //server/share rw
nonsense
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/me/run", "ext4"),
        ("/data/run", "nfs4"),
        ("/data", "nfs4"),
        ("/database", "ext4"),
        ("/data/fast/run", "xfs"),
        ("/my disk/run", "fuse.sshfs"),
        ("/twice/run", "cifs"),
    ],
)
def test_the_innermost_mount_counts(tmp_path: Path, folder: str, kind: str) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert kind_of_filesystem(Path(folder), mounts) == kind
    notice = network_notice(Path(folder), mounts)
    assert (notice is None) == (kind in ("ext4", "xfs"))
    assert notice is None or f"'{folder}' lies on a network file system ({kind})" in notice


def test_where_nothing_says_so_there_is_no_notice(tmp_path: Path) -> None:
    assert network_notice(tmp_path, tmp_path / "none") is None


def test_a_link_to_itself_lies_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert kind_of_filesystem(tmp_path / "loop" / "run") == kind_of_filesystem(tmp_path)
