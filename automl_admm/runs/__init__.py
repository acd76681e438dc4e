"""Put a run together from its configuration: the one package that knows all the parts.

The parts in the order of time: `prepare`, `session`, `driving`, `finish`; `saved` reads finished
runs. `config`, `options` and `provenance` stand below all of them. A part imports earlier ones
only; the order stands in pyproject.toml, and `docs/project/run_flow.md` draws the records. Begin
with `pipelines` (a run over a table) or `blackbox` (a run over a function).
"""
