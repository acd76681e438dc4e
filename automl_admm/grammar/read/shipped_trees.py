"""The syntax trees of the shipped grammars, read beforehand: a run with one of them needs no Lark.

To import Lark and to make its parser takes longer than all else that a run does with its grammar.
A tree is found by the hash of its text, so a changed copy of a shipped grammar is read anew.

After a change of a shipped grammar or of the reader `python docs/write_shipped_trees.py` writes
them again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from automl_admm.grammar import tree

PLACE = Path(__file__).with_name("shipped_trees.json")


def shipped_tree(text: str) -> tree.Grammar | None:
    """Return the tree of the text of a shipped grammar; None for any other text."""
    found = _trees().get(_hash_of(text))
    return None if found is None else _read(found)


def trees_text(grammars: Mapping[str, tree.Grammar]) -> str:
    """Return the content of the file of trees, given them by the texts of their grammars."""
    trees = {_hash_of(text): _written(grammar) for text, grammar in grammars.items()}
    short = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    lines = (f"{json.dumps(hashed)}: {short(trees[hashed])}" for hashed in sorted(trees))
    return "{\n" + ",\n".join(lines) + "\n}\n"


@cache
def _trees() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(PLACE.read_text(encoding="utf-8"))
    return found


def _hash_of(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()


def _written(value: Any) -> Any:
    """Return a node as JSON: its kind and its fields in a list, a tuple as a list of one list."""
    if is_dataclass(value):
        return [
            type(value).__name__,
            *(_written(getattr(value, one.name)) for one in fields(value)),
        ]
    return [[_written(item) for item in value]] if isinstance(value, tuple) else value


def _read(said: Any) -> Any:
    if not isinstance(said, list):
        return said
    if isinstance(said[0], list):
        return tuple(map(_read, said[0]))
    return getattr(tree, said[0])(*map(_read, said[1:]))
