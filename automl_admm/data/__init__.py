"""Read tables as they were trained on, split them, and know them again.

Begin with `tables`. Nothing is known here of pipelines or searches.
"""
