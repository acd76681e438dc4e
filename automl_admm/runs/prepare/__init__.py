"""Check and build everything before a run touches the disk.

Begin with `preparation`. `session`, `finish` and `saved` may not be imported here; `driving` may,
because a baseline is evaluated before the search.
"""
