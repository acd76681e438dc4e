"""Scripts of models are checked block by block, and each block once in a session.

A run compiles its `pipeline.py` before it writes it. Nearly all of it is text of the package, the
same in every script: a twentieth of the time of a search on a small table.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from automl_admm.runs.finish.script import pipeline_script

BETWEEN = "\n\n\n"  # the functions of a script
FIRST = "from __future__"


@contextmanager
def known_blocks() -> Iterator[None]:
    """Let scripts be checked by a compiler that remembers their blocks."""
    known: set[str] = set()

    def check(content: str, name: str, mode: str) -> None:
        head, *blocks = content.split(BETWEEN)
        try:
            compile(head, name, mode)
            for block in blocks:
                if block not in known:
                    compile(block, name, mode)
                    demand_no_first(block)
                    known.add(block)
        except SyntaxError:
            # A text may hold empty lines; and an error is to be told with its line in the script.
            compile(content, name, mode)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline_script, "compile", check, raising=False)
        yield


def demand_no_first(block: str) -> None:
    """Raise for an import that is right at the top of a file alone."""
    if FIRST in block:
        raise SyntaxError(FIRST)
