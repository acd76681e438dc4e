"""Unpacking of compressed files: gzip, bzip2, xz, zstd, and zip archives of one file."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import MappingProxyType
from typing import Any, BinaryIO

from automl_admm.core.errors import DataError
from automl_admm.data.reading.packed_streams import open_bzip2, open_xz

ZIP = b"PK\x03\x04"
# How packed files begin. A text may begin with these letters, too, but hardly goes on like that.
PACKINGS: Mapping[bytes, str] = MappingProxyType(
    {
        b"\x1f\x8b": "gzip",
        b"BZh": "bzip2",
        b"\xfd7zXZ\x00": "xz",
        b"\x28\xb5\x2f\xfd": "zstd",
        ZIP: "zip",
        b"PK\x05\x06": "zip",  # one without members
    }
)
BZIP_STARTS = (b"1AY&SY", b"\x17rE8P\x90")  # of a block, and of the end where there is none
PACKED_SUFFIXES = frozenset({".gz", ".bz2", ".xz", ".zst", ".zip"})
# What systems add to archives.
CLUTTER = ("__MACOSX/", ".DS_Store")
# Modules that read zstd: Python's own since 3.14, and the extra.
ZSTD_MODULES = ("compression.zstd", "backports.zstd")
BROKEN = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError)


def packing_of(start: bytes) -> str | None:
    """Return the name of the compression of a file that begins like this; None if it has none."""
    for signature, name in PACKINGS.items():
        if start.startswith(signature):
            is_text = name == "bzip2" and not start.startswith(BZIP_STARTS, 4)
            return None if is_text else name
    return None


@contextmanager
def unpacked(source: BinaryIO, packing: str, title: str) -> Iterator[BinaryIO]:
    """Open the content of a packed file; what is broken is told with the title."""
    try:
        with OPENERS[packing](source, title) as content:
            yield content
    except DataError:
        raise
    except (*BROKEN, RuntimeError) as problem:
        if getattr(problem, "errno", None) is not None:  # of the disk, and no word on the content
            raise
        raise DataError(
            f"{title} is cut off or damaged: it cannot be unpacked ({problem}).",
            hint="Copy or download it again.",
        ) from problem


def _open_gzip(source: BinaryIO, title: str) -> Any:
    import gzip

    del title
    return gzip.open(source, "rb")


def _open_bzip2(source: BinaryIO, title: str) -> Any:
    del title
    return open_bzip2(source)


def _open_xz(source: BinaryIO, title: str) -> Any:
    del title
    return open_xz(source)


@contextmanager
def _open_zstd(source: BinaryIO, title: str) -> Iterator[Any]:
    module = _zstd_module(title)
    try:
        with module.open(source, "rb") as content:
            yield content
    except module.ZstdError as problem:  # a class of its own, which may not be installed
        raise OSError(str(problem)) from problem


def _zstd_module(title: str) -> Any:
    for name in ZSTD_MODULES:
        try:
            return import_module(name)
        except ImportError:
            continue
    raise DataError(
        f"{title} is compressed by zstd, which this Python cannot unpack by itself.",
        hint="pip install 'automl-admm[zstd]'",
    )


@contextmanager
def _open_zip(source: BinaryIO, title: str) -> Iterator[Any]:
    with (
        zipfile.ZipFile(source) as archive,
        archive.open(only_member(archive, title)) as content,
    ):
        yield content


def only_member(archive: zipfile.ZipFile, title: str) -> zipfile.ZipInfo:
    """Return the one file of an archive, beside folders and what systems add."""
    members = [item for item in archive.infolist() if not item.is_dir()]
    names = [item.filename for item in members]
    if "[Content_Types].xml" in names:
        raise DataError(f"{title} is an Excel sheet.", hint="Save it as CSV.")
    members = [item for item in members if not item.filename.startswith(CLUTTER)]
    if len(members) != 1:
        shown = ", ".join(item.filename for item in members[:3])
        more = f": {shown}{', …' if len(members) > 3 else ''}" if members else ""
        raise DataError(
            f"{title} is a zip archive of {len(members)} files{more}.",
            hint="Give one of them, unpacked or in an archive of its own.",
        )
    if members[0].flag_bits & 1:
        raise DataError(f"{title} is an archive with a password.", hint="Unpack it first.")
    return members[0]


OPENERS: Mapping[str, Callable[[BinaryIO, str], Any]] = MappingProxyType(
    {
        "gzip": _open_gzip,
        "bzip2": _open_bzip2,
        "xz": _open_xz,
        "zstd": _open_zstd,
        "zip": _open_zip,
    }
)
