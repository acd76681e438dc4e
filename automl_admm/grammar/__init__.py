"""The grammar is the search space: text → syntax tree → checks → search space.

One module a stage, in this order: `locate` finds the file, `reader` parses it into the tree of
`model`, `checks`, `meaning` and `places` collect all mistakes as `diagnostics`, `unfolding` makes
the search space of it, and `compiler` does all of it in a row.
"""

from automl_admm.grammar.compiler import CompiledGrammar, compile_text, load_grammar

__all__ = ["CompiledGrammar", "compile_text", "load_grammar"]
