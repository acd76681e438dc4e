"""Write the syntax trees of the shipped grammars: python docs/write_shipped_trees.py."""

from __future__ import annotations

from automl_admm.grammar.locate import packaged_grammars, read_grammar
from automl_admm.grammar.read.reader import parse
from automl_admm.grammar.read.shipped_trees import PLACE, trees_text


def shipped_text() -> str:
    """Return the content of the file."""
    texts = map(read_grammar, packaged_grammars())
    return trees_text({text: parse(text) for text in texts})


if __name__ == "__main__":
    PLACE.write_text(shipped_text(), encoding="utf-8")
