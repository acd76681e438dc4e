"""Evaluations on other machines: all parts of an executor but the way to its workers.

The run has a `RemoteExecutor`, each worker a `Station` with supervised children; between them is a
`Transport`, for anybody to write. Begin with `transport`.
"""
