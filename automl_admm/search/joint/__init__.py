"""The other strategy: one solver over the whole conditional space at once (the paper's JOPT).

Begin with `joint_search`. Numpy only.
"""
