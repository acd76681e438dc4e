"""Mistakes in the parameters that a component declares."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from automl_admm.core.messages import say_value
from automl_admm.core.space import Choice, Condition, Parameter


def wrong_parameters(parameters: tuple[Any, ...]) -> str | None:
    """Return the mistake in the parameters of a component, if there is one."""
    known: dict[str, Parameter | Choice] = {}
    for one in parameters:
        if not isinstance(one, Parameter | Choice):
            return f"its parameters must be Parameter or Choice, not {say_value(one)}"
        if one.name in known:
            return f"it has two parameters named '{one.name}'"
        if (twice := _written_twice(one)) is not None:
            return f"parameter '{one.name}' has two values that a grammar writes as {twice}"
        known[one.name] = one
    for one in parameters:
        if one.when is not None and (problem := _wrong_condition(one.when, known)):
            return f"parameter '{one.name}' {problem}"
    return None


def _written_twice(one: Parameter | Choice) -> str | None:
    """Return the text of two values, such as 1 and '1': a grammar could not tell them apart."""
    written = (v if isinstance(v, str) else json.dumps(v, default=repr) for v in one.values)
    texts = Counter(written)
    return next((text for text, count in texts.items() if count > 1), None)


def _wrong_condition(when: Condition, known: Mapping[str, Parameter | Choice]) -> str | None:
    """Return the reason for a condition that can never hold: no such choice, or no such label."""
    decision = known.get(when.decision)
    if not isinstance(decision, Choice):
        names = [name for name, one in known.items() if isinstance(one, Choice)]
        return f"hangs on '{when.decision}', which is none of its choices ({names})"
    strange = [label for label in when.alternatives if label not in decision.alternatives]
    if strange:
        return f"hangs on '{when.decision}' being {say_value(strange[0])}, which it never is"
    return None
