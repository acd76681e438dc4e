"""Put a run together from its configuration: the one package that knows all the parts.

Begin with `pipelines` (a run over a table) or `blackbox` (a run over a function); the folders
are a run's parts in time: prepare, session, driving, finish; `saved` reads finished runs.
"""
