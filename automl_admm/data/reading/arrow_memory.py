"""The memory that Arrow takes for a large table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

CHOSEN_BY_USER = "ARROW_DEFAULT_MEMORY_POOL"
POOL = "jemalloc"


@contextmanager
def ordinary_pages() -> Iterator[None]:
    """Let Arrow take memory of pages of the usual size within the block, where it can.

    Its default asks for huge pages. A machine that was busy for a while has none at hand, and puts
    them together on the spot: that takes three times as long as to read the table.

    >>> with ordinary_pages():
    ...     pass
    """
    import pyarrow as pa

    if CHOSEN_BY_USER in os.environ or POOL not in pa.supported_memory_backends():
        yield
        return
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.jemalloc_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)
