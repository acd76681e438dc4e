"""Prove on held-out rows that limits hold.

`bounds` has the confidence bounds, `plan` the number of rows to hold out before a search, `walk`
the tests after it. Nothing here may import pipelines, processes or data; `core` and `store` are
enough. Begin with `certificate`, then read `walk/sequence`.
"""
