"""The report of the settings with limits: who kept the limit on rows that none saw, and how well.

A model outside its limit is no answer: it ranks last, with those that failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from .limits import is_within
from .ranking import DIGITS, Block
from .report import PRIMARY, Table, delay_of, tell_blocks

Record = dict[str, Any]
Setting = tuple[str, str, int]
UNITS = {"latency": " µs", "size": " MB", "fpr": "", "auc_gap": ""}


def limits_report(records: Sequence[Record], systems: Sequence[str]) -> str:
    """Return the reports of all budgets, the shortest first."""
    limited = [r for r in records if r.get("limit") and r["system"] in systems]
    budgets = sorted({record["budget"] for record in limited})
    return "\n\n".join(
        f"# {budget:g} s, within limits\n\n{tell_limits(limited, systems, budget)}"
        for budget in budgets
    )


def tell_limits(records: Sequence[Record], systems: Sequence[str], budget: float) -> str:
    """Return the tables of one budget: counts, ranks, and each setting."""
    whole = whole_settings([r for r in records if r["budget"] == budget], systems)
    if not whole:
        return "Nothing to tell yet: it takes all systems in one setting."
    metrics = "AUC, log loss of many classes, R², balanced accuracy for fpr; none outside the limit"
    return "\n\n".join(
        [
            _counts(whole, systems),
            tell_blocks(blocks_of(whole), systems, metrics),
            "Test score, and the limited value on the test rows; in brackets what is outside:",
            _settings(whole, systems),
        ]
    )


def whole_settings(
    records: Sequence[Record], systems: Sequence[str]
) -> dict[Setting, dict[str, Record]]:
    """Return the settings that all systems have done, well or badly, in the order of the runs."""
    found: dict[Setting, dict[str, Record]] = {}
    for record in records:
        setting = (record["limit"], record["set"], record["seed"])
        found.setdefault(setting, {})[record["system"]] = record
    return {setting: runs for setting, runs in found.items() if set(runs) >= set(systems)}


def blocks_of(whole: dict[Setting, dict[str, Record]], *, forgiven: bool = True) -> list[Block]:
    """Return a block for each setting: the test scores of those within the limit."""
    return [
        Block(
            f"{limit} {name}",
            {
                system: score_of(record) if is_within(record, forgiven=forgiven) else None
                for system, record in runs.items()
            },
        )
        for (limit, name, _), runs in whole.items()
    ]


def score_of(record: Record) -> float:
    """Return the test score, larger is better."""
    metric = "balanced_accuracy" if record["limit"] == "fpr" else PRIMARY[record["kind"]]
    value = float(record["scores"][metric])
    return -value if metric == "log_loss" else value


def is_best(block: Block, system: str) -> bool:
    """Return True if a system is within the limit and none that is has a better score."""
    scores = {one: round(s, DIGITS) for one, s in block.scores.items() if s is not None}
    return system in scores and scores[system] == max(scores.values())


def _counts(whole: dict[Setting, dict[str, Record]], systems: Sequence[str]) -> str:
    blocks, strict = blocks_of(whole), blocks_of(whole, forgiven=False)
    rows = []
    for system in systems:
        runs = [found[system] for found in whole.values()]
        late = [delay for run in runs if (delay := delay_of(run)) is not None]
        rows.append(
            [
                system,
                str(count_best(blocks, system)),
                str(count_kept(blocks, system)),
                str(sum("error" in run for run in runs)),
                str(count_best(strict, system)),
                str(count_kept(strict, system)),
                f"{max(late):+.1f}" if late else "",
                f"{median(run['evaluations'] for run in runs if run.get('evaluations')):g}"
                if any(run.get("evaluations") for run in runs)
                else "",
            ]
        )
    header = ["system", "best within", "within", "no model", "best within, strictly"]
    header += ["within, strictly", "latest s", "evaluations"]
    title = f"Of {len(whole)} settings; strictly is without the tolerance for noise:"
    return f"{title}\n\n{Table(header, rows)}"


def count_best(blocks: Sequence[Block], system: str) -> int:
    """Count the settings in which a system is the best of those within the limit."""
    return sum(is_best(block, system) for block in blocks)


def count_kept(blocks: Sequence[Block], system: str) -> int:
    """Count the settings in which a system is within the limit."""
    return sum(block.scores[system] is not None for block in blocks)


def _settings(whole: dict[Setting, dict[str, Record]], systems: Sequence[str]) -> str:
    rows = []
    for (limit, name, seed), runs in whole.items():
        bound = next((r["limited"]["bound"] for r in runs.values() if "limited" in r), None)
        shown = limit if bound is None else f"{limit} ≤ {bound:g}{UNITS[limit]}"
        cells = [_cell(runs[system]) for system in systems]
        rows.append([f"{shown}, {name}, seed {seed}", *cells])
    return str(Table(["setting", *systems], rows))


def _cell(record: Record) -> str:
    if "error" in record:
        return "no model"
    value = record["limited"]["value"]
    digits = {"latency": ".0f", "size": ".2f"}.get(record["limit"], ".3f")
    shown = f"{abs(score_of(record)):.4f}, {value:{digits}}"
    return shown if is_within(record) else f"({shown})"
