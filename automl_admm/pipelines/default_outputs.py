"""The outputs of transformers, as pipelines were measured, whatever scikit-learn is set to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def default_outputs() -> Iterator[None]:
    """Let transformers return arrays, also where `set_config(transform_output="pandas")` holds.

    That setting is of one thread: a pipeline that was fitted in another process or thread would
    get frames here, and arrays there.
    """
    from sklearn import config_context

    with config_context(transform_output="default"):
        yield
