"""What a fitted pipeline answers, checked, remembered and counted.

Begin with `measured`.
"""
