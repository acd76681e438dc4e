"""Folders of processes that may be killed at any time: the next one removes those of the dead."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psutil

from automl_admm.plugin_api import remove_tree


def make_folder(kind: str) -> Path:
    """Make a folder in the folder for temporary files, named by this process.

    Folders of this kind and this user whose process has ended are removed.
    """
    place = Path(tempfile.gettempdir())
    for left in place.glob(f"{kind}-*-*"):
        number = left.name.split("-")[-2]
        if number.isdecimal() and not psutil.pid_exists(int(number)) and _is_ours(left):
            remove_tree(left)
    return Path(tempfile.mkdtemp(prefix=f"{kind}-{os.getpid()}-", dir=place))


def _is_ours(folder: Path) -> bool:
    try:
        return folder.lstat().st_uid == os.getuid() and not folder.is_symlink()
    except OSError:
        return False
