"""Limits as users write them: from text to a measuring function.

`parse` reads `fpr_gap[sex] <= 0.1`, `resolve` finds the function of its name, `dry_run` tries it on
the data before anything is trained. Nothing here may import runs, stores or searches.
Begin with `parse`, then `resolve`.
"""
