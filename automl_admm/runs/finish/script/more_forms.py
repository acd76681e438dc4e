"""The parts of `pipeline.py` for a training file that is ARFF or no plain CSV."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from automl_admm.data.reading.arff import header_in
from automl_admm.data.reading.dialects import SAMPLE
from automl_admm.data.reading.file_options import FileOptions
from automl_admm.data.reading.tidying import tidying_in


def read_arff(path: Path, text: str, texts: Sequence[str]) -> tuple[Any, Any]:
    """Read an ARFF file; return its table, and how to name a row's place."""
    file = io.BytesIO(text.encode())
    header = header_in(path, file)
    found = list(header.rows(file, header.lines + 1))
    table = header.frame([row for _, row in found], texts)
    return table, lambda row: f"{path}, line {found[row][0]}"


def tidied(text: str, separator: str | None = None) -> str:
    """Return CSV without comment lines, single quotes, blanks between columns and `sep=;`."""
    way = tidying_in(text[:SAMPLE], FileOptions(separator), is_cut=len(text) > SAMPLE)
    return text if way is None else "".join(way.rewrite(io.StringIO(text, newline="")))
