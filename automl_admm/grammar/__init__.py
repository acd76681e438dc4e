"""Compile a grammar file into a space of pipelines, or report its mistakes with their places.

The folders are the steps of `compile`: read, check, expand. `show` draws the result, `text` reads
pipelines written as text. Nothing here may import searches or data; `core` and `plugins` are
enough. Begin with `compile`.
"""

from automl_admm.grammar.compile import CompiledGrammar, compile_text, load_grammar

__all__ = ["CompiledGrammar", "compile_text", "load_grammar"]
