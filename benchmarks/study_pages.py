"""The pages of studies: their order, and what the list of them says of each."""

from __future__ import annotations

import re
from pathlib import Path

PAGES = Path(__file__).parents[1] / "docs" / "benchmarks"
GROUPS = {
    "The whole tool": (
        "peers",
        "peers_within",
        "tpot",
        "controls",
        "ablation",
        "frames",
        "portfolio",
        "real_data",
        "limits_real_data",
        "certificates",
        "every_bound",
        "claims",
        "certified_rivals",
        "certified_findings",
    ),
    "Solvers": (
        "admm_against_joint",
        "admm_precision",
        "admm_parts",
        "shadow_price",
        "table_searches",
        "z_solvers",
        "theta_solvers",
        "theta_constrained",
        "ctpe",
        "rising_bandits",
        "hyperband",
        "proposal_cost",
        "shapes",
        "study_processes",
    ),
    "Time, and what goes wrong": (
        "evaluation_rate",
        "racing",
        "growing",
        "first_evaluation_and_scale",
        "reliability",
        "faults",
    ),
    "Data and models": (
        *("encoders", "splits", "boosters", "ensembles", "fold_models", "ways", "weighed_rows"),
        *("probabilities", "fairness_tools"),
    ),
}
ORDER = tuple(study for studies in GROUPS.values() for study in studies)
HEAD = re.compile(r"\A# (?P<title>[^\n]+)\n\n\*(?P<question>[^*]+)\*\n")
SHORT = re.compile(r"^\*\*In short:\*\* (.+?)\n\n", re.DOTALL | re.MULTILINE)


def text_of(study: str) -> str:
    """Return the page of a study."""
    return (PAGES / f"{study}.md").read_text(encoding="utf-8")


def outcome(text: str) -> str:
    """Return what a page says in short."""
    found = SHORT.search(text)
    if found is None:
        raise ValueError("a page of a study needs a paragraph that begins with **In short:**")
    return " ".join(found[1].split())


def listed() -> str:
    """Return all studies with their questions and outcomes."""
    parts = (f"## {title}\n\n" + "\n".join(map(_item, of)) for title, of in GROUPS.items())
    return "\n\n".join(parts)


def _item(study: str) -> str:
    text = text_of(study)
    head = HEAD.match(text)
    if head is None:
        raise ValueError(f"docs/benchmarks/{study}.md needs a title and its question in italics")
    question = " ".join(head["question"].split())
    said = outcome(text)
    return f"- [{head['title']}]({study}.md): *{question}* {said[0].upper()}{said[1:]}"
