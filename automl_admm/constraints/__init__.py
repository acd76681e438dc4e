"""Limits as users write them: from text to a function that measures.

Begin with `parse`, then `resolve`. Nothing is known here of searches or stores.
"""
