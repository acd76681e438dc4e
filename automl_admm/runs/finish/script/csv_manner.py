"""The manner of a training file: its format and, for CSV, its dialect in the words of pandas."""

from __future__ import annotations

import codecs
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.data.reading.csv_rows import read_csv_rows
from automl_admm.data.reading.dialects import Dialect, find_dialect
from automl_admm.data.reading.encodings import Encoding, find_encoding, is_utf8_name
from automl_admm.data.reading.file_options import FileOptions, file_options
from automl_admm.data.reading.formats import CSV, binary_form, format_of
from automl_admm.data.reading.plain_files import never_late, plain_file
from automl_admm.data.reading.unpacking import packing_of, unpacked
from automl_admm.runs.config import RunConfig

# So much of a file shows how it is written.
LOOKED_AT = 1 << 20


@dataclass(frozen=True, slots=True)
class TrainingFile:
    """The manner in which a training file is written.

    `csv` are the signs and the encoding in the words of pandas, and under `alike` the names that
    columns of one name got, and those of columns without a name. There `is_given` is True if the
    user named the encoding. `form` is its format, and `is_tidied` is True for CSV with comment
    lines and the like.
    """

    csv: Mapping[str, Any]
    form: str = CSV
    is_tidied: bool = False


PLAIN = TrainingFile({"encoding": "utf-8-sig"})


def training_file(config: RunConfig) -> TrainingFile:
    """Return what is known of the training file; one that is gone counts as plain.

    It still has the encoding that the user named, or that its reader found in all of it.
    """
    source, encoding = Path(config.source or ""), config.encoding or config.found_encoding
    is_given = config.encoding is not None
    unseen = TrainingFile(_encoding(encoding, is_given=is_given))
    try:
        if config.source is None or not source.is_file():
            return unseen
        options = file_options(config.separator, config.decimal, encoding)
        return _manner(source, options, is_given=is_given)
    except (AutomlAdmmError, OSError, UnicodeError):
        return unseen


def _manner(source: Path, options: FileOptions, *, is_given: bool) -> TrainingFile:
    """Return the manner of a file; its encoding `is_given` if the user named it."""
    with tempfile.TemporaryDirectory(prefix="automl-admm-tmp-") as folder:
        part = Path(folder) / "part.csv"
        content = _beginning(source)
        part.write_bytes(content)
        if (form := binary_form(part)) is not None:
            return replace(PLAIN, form=form)
        if len(content) == LOOKED_AT:
            part.write_bytes(_whole_lines(content, _found_encoding(part, options, is_whole=False)))
        with plain_file(part, options) as plain:
            found = _found_encoding(part, options, is_whole=True)
            encoded = _encoding(found.name, is_given=is_given)
            if (form := format_of(plain.path)) != CSV:
                return TrainingFile(encoded, form)
            dialect = find_dialect(plain.path, options)
            _, dialect = read_csv_rows(plain.path, dialect)
        written = encoded | _signs(dialect) | _names_alike(dialect)
        return TrainingFile(written, is_tidied=plain.is_tidied)


def _signs(dialect: Dialect) -> dict[str, str]:
    """Return the signs of a dialect that differ from those of a plain file."""
    found = {"sep": dialect.separator, "decimal": dialect.decimal}
    plain_ones = {"sep": ",", "decimal": "."}
    signs = {name: sign for name, sign in found.items() if sign != plain_ones[name]}
    return signs | {"thousands": "."} if dialect.decimal == "," else signs


def _names_alike(dialect: Dialect) -> dict[str, Any]:
    """Return the names that were made of others, or of none, if there are such."""
    if dialect.unique is None:
        return {}
    return {"alike": {name: list(made) for name, made in dialect.unique.copies.items()}}


def _encoding(name: str | None, *, is_given: bool) -> dict[str, Any]:
    """Return the encoding of a text, with a note if the bytes of a later one may say another."""
    if name is None or is_utf8_name(name):
        return dict(PLAIN.csv)
    return {"encoding": name} | ({"is_given": True} if is_given else {})


def _found_encoding(part: Path, options: FileOptions, *, is_whole: bool) -> Encoding:
    """Return the encoding that the options have, or that of the bytes."""
    if options.encoding is not None:
        return Encoding(options.encoding)
    return find_encoding(part, str(part), never_late, is_whole=is_whole)


def _beginning(source: Path) -> bytes:
    """Return the first bytes of a file, unpacked."""
    with source.open("rb") as file:
        packing = packing_of(file.read(LOOKED_AT))
        file.seek(0)
        if packing is None:
            return file.read(LOOKED_AT)
        with unpacked(file, packing, str(source)) as inner:
            return inner.read(LOOKED_AT)


def _whole_lines(content: bytes, encoding: Encoding) -> bytes:
    """Return the whole lines of the beginning of a text; of a line without an end, all of it."""
    # It may end within a sign.
    text = codecs.getincrementaldecoder(encoding.name)().decode(content)
    # Of a return at its end nobody knows if a newline follows.
    end = max("\n", "\r", key=text.removesuffix("\r").count)
    lines = text[: text.rfind(end) + 1]
    return (lines or text).encode(encoding.name)
