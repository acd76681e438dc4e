"""AutoML systems side by side: the same tables, the same time, one core, each in a process.

Begin with `README.md`, then `__main__.py`. `systems` lists who takes part, `tasks` makes the split
that all are given, `running` runs one system once and scores its answer, `report` says who was
better. What runs in the environment of a system stands in `processes/`.
"""
