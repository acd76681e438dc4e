"""The shipped grammars need no parser: their trees, read beforehand, equal the parsed ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from automl_admm.grammar.locate import packaged_grammars, read_grammar
from automl_admm.grammar.read import reader, shipped_trees
from automl_admm.grammar.read.shipped_trees import PLACE, shipped_tree, trees_text

GRAMMARS = {path.stem: read_grammar(path) for path in packaged_grammars()}
ALL_KINDS = """
%import components (impute, pca, ridge)
%import default (scaler)
%override scaler: none
start: any_order{impute, select, before{impute, select}} reducer~1..2 named ridge*
reducer: "pca" "(" "n_components" "=" int{"1", "9"} ")"
named: (pca -> reduced | none) -> said
select: (impute | none)?
"""


def parsed() -> str:
    return trees_text({text: reader.parse(text) for text in GRAMMARS.values()})


def test_the_file_of_trees_is_what_its_script_writes() -> None:
    again = "run python docs/write_shipped_trees.py"
    assert PLACE.read_text(encoding="utf-8") == parsed(), again


@pytest.mark.parametrize("name", sorted(GRAMMARS))
def test_a_tree_read_beforehand_is_the_parsed_one(name: str) -> None:
    assert shipped_tree(GRAMMARS[name]) == reader.parse(GRAMMARS[name])


def test_a_shipped_grammar_is_read_without_a_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_parser", lambda: pytest.fail("Lark was asked"))
    assert reader.read(GRAMMARS["default"]).bodies()["start"]


def test_a_changed_copy_is_parsed(tmp_path: Path) -> None:
    changed = GRAMMARS["tiny"] + "\nmore: impute\n"
    assert shipped_tree(changed) is None
    copy = tmp_path / "mine.lark"
    copy.write_text(changed, encoding="utf-8")
    assert "more" in reader.read(read_grammar(copy)).bodies()


def test_every_kind_of_node_survives_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = reader.parse(ALL_KINDS)
    monkeypatch.setattr(shipped_trees, "PLACE", tmp_path / "trees.json")
    shipped_trees.PLACE.write_text(trees_text({ALL_KINDS: tree}), encoding="utf-8")
    shipped_trees._trees.cache_clear()
    try:
        assert shipped_tree(ALL_KINDS) == tree
    finally:
        shipped_trees._trees.cache_clear()
