"""The structure of a search space: the tree of its axes, the shape of its pipelines, orders.

Of this project only `core` may be imported here. Begin with `pipeline_space`; `axis_tree` groups
the axes of a space by their conditions, `precedence` has the orders in which pieces may stand.
"""
