"""Limits as users write them: text → names and numbers → a function that measures.

`reader` parses the text into the records of `written`, `measures` looks its names up, `groups`
parts rows by columns, `comparing` compares what was measured on each part, `scores` asks
scikit-learn's scorers, and `trial` tries it all on predictions that are right, before the search.
"""
