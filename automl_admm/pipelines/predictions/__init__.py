"""The answers of a fitted pipeline: checked, remembered and counted.

Begin with `measured`.
"""
