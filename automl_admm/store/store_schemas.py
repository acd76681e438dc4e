"""Schemas of the files of a store: its manifest, and its lock, which names the writing process."""

from __future__ import annotations

from automl_admm.store.json_content import (
    flag,
    nullable,
    number,
    record,
    text,
    whole,
    within,
)

LARGEST_PID = 2**31 - 1  # a C int: psutil refuses a larger one
STORE_MANIFEST, STORE_RUN = "store.json", "run"
HOLDER = record(
    {"host": text, "pid": whole(1, LARGEST_PID), "start": number},
    {"run": text, "rows": whole(), "session": whole(), "seconds": within(0.0, 1e12)},
)
STORE = record(
    {
        STORE_RUN: text,
        "version": whole(),
        "rows": whole(),
        "is_open": flag,
        "generation": nullable(text),
    }
)
