"""Make `portfolio.json` of what was measured, and print what it is worth on a table left out.

    python -m benchmarks.portfolio TABLES RESULTS.jsonl [--write]

The regret on a table is 0 for its best pipeline and 1 for the median one or a worse. For each table
the order is chosen from the other tables of its task; then its regret is read after so many
evaluations, and after so many processor seconds. All rows begin with the pipeline that a timed
search begins with anyway.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.core.space import Array
from automl_admm.runs.prepare.portfolio import OVERHEAD, PATH, Experience, Facts

from .candidates import FIRST
from .runs import METRICS, digest_of, prepared_on, read_lines

AFTER = (1, 2, 4, 8, 12)
SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0)
SHUFFLES = 50
# Of `FIRST` a task has one.
BEGUN = 1
# With fewer tables of a task none is left out.
LEAST_TABLES = 3
PACKAGES = ("scikit-learn", "lightgbm", "xgboost-cpu")


@dataclass(frozen=True)
class Table:
    """A learning table: its facts, its digest, and its column of losses and seconds."""

    name: str
    facts: Facts
    sha256: str
    losses: Array
    seconds: Array

    @property
    def regrets(self) -> Array:
        """0 for the best pipeline, 1 for a median one or a worse; NaN where there is none."""
        best, usual = np.nanmin(self.losses), np.nanmedian(self.losses)
        regrets: Array = np.clip((self.losses - best) / max(usual - best, 1e-9), 0.0, 1.0)
        return np.where(np.isnan(regrets) & ~np.isnan(self.seconds), 1.0, regrets)


def read_tables(folder: Path, results: Path) -> Mapping[str, tuple[tuple[str, ...], list[Table]]]:
    """Return the texts and the tables of each task; a table that is not complete is left out."""
    lines = read_lines(results)
    found: dict[str, tuple[tuple[str, ...], list[Table]]] = {}
    last = lines[-1].table if lines else ""
    for task in METRICS:
        texts = tuple(sorted({one.text for one in lines if one.task == task}))
        names = sorted({one.table for one in lines if one.task == task and one.table != last})
        found[task] = texts, []
        for name in names:
            own = {one.text: one for one in lines if one.table == name}
            here = [own.get(text) for text in texts]
            losses = [np.nan if one is None or one.loss is None else one.loss for one in here]
            seconds = [np.nan if one is None else one.seconds for one in here]
            path = folder / f"{name}.csv"
            facts = Facts.of(prepared_on(path).work)
            made = Table(name, facts, digest_of(path), np.array(losses), np.array(seconds))
            found[task][1].append(made)
    return found


def content_of(found: Mapping[str, tuple[tuple[str, ...], list[Table]]]) -> dict[str, Any]:
    """Return what ships: facts, regrets and seconds."""
    return {
        "learned": datetime.now(UTC).date().isoformat(),
        "versions": {name: version(name) for name in PACKAGES},
        "tasks": {task: _part(texts, tables) for task, (texts, tables) in found.items()},
    }


def _part(texts: Sequence[str], tables: Sequence[Table]) -> dict[str, Any]:
    regrets = np.array([table.regrets for table in tables]).T
    seconds = np.array([table.seconds for table in tables]).T
    lines = {
        text: {"regret": _plain(row), "seconds": _plain(spent)}
        for text, row, spent in zip(texts, regrets, seconds, strict=True)
    }
    described = {one.name: asdict(one.facts) | {"sha256": one.sha256} for one in tables}
    return {"tables": described, "pipelines": lines}


def _plain(values: Array) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 2) for value in values]


def write(content: Mapping[str, Any], path: Path) -> None:
    """Write it with a line for each table and each pipeline."""
    tasks = {
        task: _block({name: _block(_lines(part[name])) for name in ("tables", "pipelines")})
        for task, part in content["tasks"].items()
    }
    whole = _lines({name: content[name] for name in ("learned", "versions")})
    path.write_text(_block(whole | {"tasks": _block(tasks)}) + "\n", encoding="utf-8")


def _lines(said: Mapping[str, Any]) -> dict[str, str]:
    return {name: json.dumps(value) for name, value in said.items()}


def _block(said: Mapping[str, str]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {text}" for name, text in said.items()) + "\n}"


def without(known: Experience, place: int) -> Experience:
    """Leave a table out."""
    others = [i for i in range(len(known.tables)) if i != place]
    return replace(
        known,
        tables=tuple(known.tables[i] for i in others),
        regrets=known.regrets[:, others],
        seconds=known.seconds[:, others],
    )


def curves(known: Experience, place: int) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield the orders of pipelines to try on a table, chosen without it; several if random."""
    facts, rest = known.tables[place], without(known, place)
    # A pipeline that no other table has cannot be chosen.
    seen = ~np.all(np.isnan(rest.seconds), axis=1)
    rows = [int(i) for i in np.flatnonzero(~np.isnan(known.seconds[:, place])) if seen[i]]
    first = [known.texts.index(text) for text in FIRST if text in known.texts]
    random = np.random.default_rng(0)
    left = [row for row in rows if row not in first]
    flat = np.full(len(rest.tables), 1 / len(rest.tables))
    with np.errstate(all="ignore"):
        yield "nothing more", [first]
        yield "random order", [[*first, *random.permutation(left)] for _ in range(SHUFFLES)]
        yield "portfolio, all tables alike", [[*first, *rest.order(flat, rows, first)]]
        weights = rest.weights(facts)
        yield "portfolio", [[*first, *rest.order(weights, rows, first)]]


def measure(known: Experience) -> dict[str, Array]:
    """Return the mean regrets over the tables, for each way to order, after each point."""
    found: dict[str, list[Array]] = {}
    for place in range(len(known.tables)):
        regret, spent = known.regrets[:, place], known.seconds[:, place] + OVERHEAD
        for way, orders in curves(known, place):
            read = [_read(regret[order], np.cumsum(spent[order])) for order in orders]
            found.setdefault(way, []).append(np.mean(read, axis=0))
    return {way: np.mean(values, axis=0) for way, values in found.items()}


def _read(regrets: Array, spent: Array) -> Array:
    """Return the least regret after each number of evaluations, and after each time."""
    reached = np.minimum.accumulate(regrets)
    counts = [reached[min(BEGUN + n, len(reached)) - 1] for n in AFTER]
    timed = [min(regrets[spent <= limit], default=1.0) for limit in SECONDS]
    return np.array([*counts, *timed])


def report(content: Mapping[str, Any]) -> None:
    """Print a block for each task."""
    heads = [*(f"+{n}" for n in AFTER), *(f"{limit:g} s" for limit in SECONDS)]
    for task, part in content["tasks"].items():
        known = Experience.from_json(part)
        if len(known.tables) < LEAST_TABLES:
            continue
        count = f"{len(known.tables)} tables, {len(known.texts)} pipelines"
        sys.stdout.write(f"{task}: {count}\n{'':28}{''.join(f'{h:>7}' for h in heads)}\n")
        for way, values in measure(known).items():
            sys.stdout.write(f"{way:28}{''.join(f'{value:7.3f}' for value in values)}\n")


def main() -> None:
    """Print the regrets, and write the file if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    content = content_of(read_tables(given.tables, given.results))
    if given.write:
        write(content, PATH)
    report(content)


if __name__ == "__main__":
    main()
