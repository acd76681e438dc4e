"""A script is refused where Python refuses it, whatever blocks of it are known."""

from __future__ import annotations

from typing import Any

import pytest
from known_blocks import known_blocks

from automl_admm.runs.finish.script import pipeline_script

SOUND = '"""A script."""\n\nfrom __future__ import annotations\n\n\ndef one():\n    return 1\n'
FAULTS = (
    "def one(:\n    return 1\n",
    "return 1\n",
    "    indented = 1\n",
    "from __future__ import annotations\n",
    'text = """never ended\n',
    "def one():\n    nonlocal absent\n",
)
TWO_HALVES = '\n\n\ntext = """one\n\n\nother"""\n'


@pytest.fixture
def check() -> Any:
    with known_blocks():
        yield vars(pipeline_script)["compile"]


@pytest.mark.parametrize("fault", FAULTS)
def test_what_python_refuses_is_refused_each_time_and_in_its_line(check: Any, fault: str) -> None:
    check(SOUND, "script.py", "exec")
    content = f"{SOUND}\n\none()\n\n\n{fault}"
    with pytest.raises(SyntaxError) as told:
        compile(content, "script.py", "exec")
    for _ in range(2):
        with pytest.raises(SyntaxError) as found:
            check(content, "script.py", "exec")
        assert str(found.value) == str(told.value)


def test_what_python_takes_is_taken(check: Any) -> None:
    for content in (SOUND, SOUND + TWO_HALVES, SOUND):
        check(content, "script.py", "exec")
