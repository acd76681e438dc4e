"""Compile a grammar file into a space of pipelines, or say what is wrong and where.

Begin with `compile`; the folders are its steps: read, check, expand. `show` draws the result.
Nothing is known here of searches or of data.
"""

from automl_admm.grammar.compile import CompiledGrammar, compile_text, load_grammar

__all__ = ["CompiledGrammar", "compile_text", "load_grammar"]
