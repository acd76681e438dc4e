"""Files as people get them: the same few tables in many formats and dialects.

`FILES` has a writer for each. A rival reads them as its users would: by pandas with nothing but the
path, or by a reader of its own.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Writer = Callable[[pd.DataFrame, Path], None]
ROWS, TRAIN = 1600, 1200


@dataclass(frozen=True)
class File:
    """A format or a dialect: `suffix` of its files, and how a frame is written."""

    suffix: str
    write: Writer


def people(seed: int) -> tuple[pd.DataFrame, Any]:
    """Make a plain table: numbers with gaps, words beyond ASCII, codes, truth values."""
    rng = np.random.default_rng(seed)
    income = np.round(np.exp(rng.normal(7, 1, ROWS)), 2)
    towns = np.array(["Zürich", "Málaga", "Łódź", "Oslo"])[rng.integers(0, 4, ROWS)]
    member, code = rng.random(ROWS) < 0.5, rng.integers(0, 30, ROWS)
    effects = rng.standard_normal(30)
    score = np.log(income) + 1.5 * member + effects[code] + (towns == "Oslo")
    y = np.where(rng.random(ROWS) < 1 / (1 + np.exp(-2 * (score - score.mean()))), "yes", "no")
    frame = pd.DataFrame(
        {
            "income": np.where(rng.random(ROWS) < 0.1, np.nan, income),
            "town": towns,
            "member": member,
            "code": [f"{c:03d}" for c in code],
            "age": rng.integers(18, 90, ROWS),
            "note": rng.choice(["a, b; c", 'say "yes"', "plain", "x|y"], ROWS),
        }
    )
    return frame, y


def western(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose words Latin-1 can write."""
    return frame.replace({"Łódź": "Orléans"})


def separated(separator: str, decimal: str = ".", encoding: str = "utf-8", **more: Any) -> Writer:
    """Make a writer of a dialect of CSV."""

    def write(frame: pd.DataFrame, path: Path) -> None:
        plain = western(frame) if encoding in ("latin-1", "cp1252") else frame
        plain.to_csv(path, index=False, sep=separator, decimal=decimal, encoding=encoding, **more)

    return write


def packed(pack: Callable[[bytes], bytes], separator: str = ",") -> Writer:
    """Make a writer of compressed CSV."""

    def write(frame: pd.DataFrame, path: Path) -> None:
        path.write_bytes(pack(frame.to_csv(index=False, sep=separator).encode()))

    return write


def zipped(content: bytes) -> bytes:
    """Return a zip archive of one file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
    return made.getvalue()


def with_start(start: str, separator: str = ",") -> Writer:
    """Make a writer of CSV with something before its header."""

    def write(frame: pd.DataFrame, path: Path) -> None:
        path.write_text(start + frame.to_csv(index=False, sep=separator), encoding="utf-8")

    return write


def with_lines(end: str) -> Writer:
    """Make a writer of CSV with other ends of lines."""

    def write(frame: pd.DataFrame, path: Path) -> None:
        path.write_bytes(frame.to_csv(index=False, lineterminator=end).encode())

    return write


def spelled(column: str, write_cell: Callable[[Any], str], separator: str = ",") -> Writer:
    """Make a writer of CSV with the cells of one column in a spelling of their own."""

    def write(frame: pd.DataFrame, path: Path) -> None:
        cells = ["" if pd.isna(cell) else write_cell(cell) for cell in frame[column]]
        frame.assign(**{column: cells}).to_csv(path, index=False, sep=separator)

    return write


def arff(frame: pd.DataFrame, path: Path) -> None:
    """Write ARFF: numbers, nominal words, and text in quotes."""
    lines = ["% made for a benchmark", "@RELATION people", ""]
    for name, column in frame.items():
        kind = "NUMERIC" if column.dtype.kind in "fi" else "STRING"
        if name in ("town", "member", "target", "code"):
            kind = "{" + ",".join(f"'{one}'" for one in sorted(set(map(str, column)))) + "}"
        lines.append(f"@ATTRIBUTE '{name}' {kind}")
    lines += ["", "@DATA"]
    for row in frame.itertuples(index=False):
        cells = ["?" if one != one else _arff_cell(one) for one in row]  # noqa: PLR0124 - NaN
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _arff_cell(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(value)
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


def json_lines(frame: pd.DataFrame, path: Path) -> None:
    """Write an object a line, gaps left out."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    kept = [{name: value for name, value in row.items() if value is not None} for row in rows]
    path.write_text("\n".join(json.dumps(row) for row in kept), encoding="utf-8")


def json_array(frame: pd.DataFrame, path: Path) -> None:
    """Write one array of objects."""
    frame.to_json(path, orient="records")


def parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write Parquet."""
    frame.to_parquet(path)


def parquet_of_categories(frame: pd.DataFrame, path: Path) -> None:
    """Write Parquet with pandas categories, small floats and an index."""
    kinds = {"town": "category", "age": "int16", "income": "float32"}
    frame.astype(kinds).set_index(pd.RangeIndex(5, 5 + len(frame))).to_parquet(path)


def parquet_of_arrow(frame: pd.DataFrame, path: Path) -> None:
    """Write Parquet with nullable columns."""
    frame.convert_dtypes().to_parquet(path)


def feather(frame: pd.DataFrame, path: Path) -> None:
    """Write Feather."""
    frame.to_feather(path)


def quoted(frame: pd.DataFrame, path: Path) -> None:
    """Write CSV with quotes around every cell."""
    frame.to_csv(path, index=False, quoting=csv.QUOTE_ALL)


def gaps(marker: str) -> Writer:
    """Make a writer of CSV with another text for what is missing."""

    def write(frame: pd.DataFrame, path: Path) -> None:
        frame.to_csv(path, index=False, na_rep=marker)

    return write


FILES: dict[str, File] = {
    "CSV": File(".csv", separated(",")),
    "CSV, quotes everywhere": File(".csv", quoted),
    "CSV, byte order mark": File(".csv", separated(",", encoding="utf-8-sig")),
    "CSV, Windows lines": File(".csv", with_lines("\r\n")),
    "CSV, old Mac lines": File(".csv", with_lines("\r")),
    "CSV, comments": File(".csv", with_start("# made in May\n# by somebody\n")),
    "CSV, blank lines before": File(".csv", with_start("\n\n")),
    "CSV, Latin-1": File(".csv", separated(",", encoding="latin-1")),
    "CSV, Windows-1252": File(".csv", separated(",", encoding="cp1252")),
    "CSV, UTF-16": File(".csv", separated(",", encoding="utf-16")),
    "semicolons": File(".csv", separated(";")),
    "semicolons, decimal commas": File(".csv", separated(";", ",")),
    "semicolons, decimal commas, Latin-1": File(".csv", separated(";", ",", "latin-1")),
    "semicolons, UTF-16": File(".csv", separated(";", encoding="utf-16")),
    "tabs": File(".tsv", separated("\t")),
    "tabs in .txt": File(".txt", separated("\t")),
    "tabs, decimal commas": File(".tsv", separated("\t", ",")),
    "bars": File(".csv", separated("|")),
    "gaps as NA": File(".csv", gaps("NA")),
    "gaps as ?": File(".csv", gaps("?")),
    "gaps as -": File(".csv", gaps("-")),
    "gaps as n/a": File(".csv", gaps("n/a")),
    "thousands 1,234.50": File(".csv", spelled("income", lambda x: f"{x:,.2f}")),
    "money $1,234.50": File(".csv", spelled("income", lambda x: f"${x:,.2f}")),
    "money 1.234,50 €, semicolons": File(
        ".csv", spelled("income", lambda x: f"{x:,.2f} €".translate({44: 46, 46: 44}), ";")
    ),
    "units": File(".csv", spelled("age", lambda x: f"{x} years")),
    "truth values as Y and N": File(".csv", spelled("member", lambda x: "Y" if x else "N")),
    "gzip": File(".csv.gz", packed(gzip.compress)),
    "gzip, semicolons": File(".csv.gz", packed(gzip.compress, ";")),
    "bzip2": File(".csv.bz2", packed(bz2.compress)),
    "xz": File(".csv.xz", packed(lzma.compress)),
    "zip": File(".zip", packed(zipped)),
    "gzip without the suffix": File(".csv", packed(gzip.compress)),
    "Parquet": File(".parquet", parquet),
    "Parquet, categories": File(".parquet", parquet_of_categories),
    "Parquet, nullable": File(".parquet", parquet_of_arrow),
    "Parquet named .csv": File(".csv", parquet),
    "Feather": File(".feather", feather),
    "ARFF": File(".arff", arff),
    "JSON lines": File(".jsonl", json_lines),
    "JSON array": File(".json", json_array),
}


@dataclass(frozen=True)
class Written:
    """The files of a task: to train on with the target, to predict without, and the truth."""

    train: Path
    test: Path
    truth: Any


def write_files(name: str, seed: int, folder: Path) -> Written:
    """Write the two files of a dialect into a folder."""
    frame, y = people(seed)
    chosen = FILES[name]
    train, test = folder / f"train{chosen.suffix}", folder / f"test{chosen.suffix}"
    chosen.write(frame.iloc[:TRAIN].assign(target=y[:TRAIN]), train)
    chosen.write(frame.iloc[TRAIN:].reset_index(drop=True), test)
    return Written(train, test, y[TRAIN:])
