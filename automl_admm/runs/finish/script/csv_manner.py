"""The manner of a training file in the words of `pandas.read_csv`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.data.reading.csv_rows import read_csv_rows
from automl_admm.data.reading.dialects import find_dialect
from automl_admm.data.reading.encodings import Encoding, find_encoding
from automl_admm.data.reading.file_options import FileOptions, file_options
from automl_admm.data.reading.formats import CSV, binary_form, format_of
from automl_admm.data.reading.plain_files import never_late, plain_file
from automl_admm.data.reading.unpacking import packing_of, unpacked
from automl_admm.runs.config import RunConfig

# So much of a file shows how it is written.
LOOKED_AT = 1 << 20


def csv_arguments(config: RunConfig) -> dict[str, str]:
    """Return what differs from a plain file in UTF-8; nothing is known of one that is gone."""
    found = {"encoding": "utf-8-sig"}
    source = Path(config.source or "")
    try:
        if config.source is None or not source.is_file():
            return found
        options = file_options(config.separator, config.decimal, config.encoding)
        return found | _manner(source, options)
    except (AutomlAdmmError, OSError):
        return found


def _manner(source: Path, options: FileOptions) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="automl-admm-tmp-") as folder:
        part = Path(folder) / "part.csv"
        part.write_bytes(_beginning(source))
        if binary_form(part) is not None:
            return {}
        with plain_file(part, options) as plain:
            if format_of(plain.path) != CSV:
                return {}
            dialect = find_dialect(plain.path, options)
            _, dialect = read_csv_rows(plain.path, dialect)
        found = {"sep": dialect.separator, "decimal": dialect.decimal}
        plain_ones = {"sep": ",", "decimal": "."}
        manner = {name: sign for name, sign in found.items() if sign != plain_ones[name]}
        if dialect.decimal == ",":
            manner["thousands"] = "."
        encoding = Encoding(options.encoding) if options.encoding else _encoding_of(part)
        return manner if encoding.is_plain else {"encoding": encoding.name, **manner}


def _encoding_of(part: Path) -> Encoding:
    return find_encoding(part, str(part), never_late)


def _beginning(source: Path) -> bytes:
    """Return the first whole lines of a file, unpacked."""
    with source.open("rb") as file:
        packing = packing_of(file.read(LOOKED_AT))
        file.seek(0)
        if packing is None:
            content = file.read(LOOKED_AT)
        else:
            with unpacked(file, packing, str(source)) as inner:
                content = inner.read(LOOKED_AT)
    return content if len(content) < LOOKED_AT else content[: content.rfind(b"\n") + 1]
