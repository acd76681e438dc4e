"""File systems of folders: on a network neither locks nor logs are reliable."""

from __future__ import annotations

import os
import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
NETWORKED = frozenset(
    {
        *("9p", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse.davfs2", "fuse.glusterfs"),
        *("fuse.ceph", "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "glusterfs", "gpfs", "lustre"),
        *("ncpfs", "nfs", "nfs4", "orangefs", "smb2", "smb3", "smbfs"),
    }
)


def network_notice(folder: Path, mounts: Path = MOUNTS) -> str | None:
    """Return a warning for a run folder on a network; None for a local one."""
    kind = kind_of_filesystem(folder, mounts)
    if kind not in NETWORKED:
        return None
    return (
        f"'{folder}' lies on a network file system ({kind}), where locks and logs may fail: "
        "a local disk is safer."
    )


def kind_of_filesystem(folder: Path, mounts: Path = MOUNTS) -> str:
    """Return the type of the innermost mount around a folder; empty if unknown."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    # A link to itself leads nowhere, which `resolve` of Python 3.12 and before raises.
    place, innermost, kind = Path(os.path.realpath(folder)), -1, ""
    for line in lines:
        mount, _, source = line.partition(" - ")
        fields = mount.split()
        if len(fields) < 5 or not source:
            continue
        point = Path(_unescape(fields[4]))
        # Of two mounts on one place the later one is seen.
        if place.is_relative_to(point) and len(point.parts) >= innermost:
            innermost, kind = len(point.parts), source.split()[0]
    return kind


def _unescape(text: str) -> str:
    """Spaces and the like are written as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), text)
