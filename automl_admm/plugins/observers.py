"""Tell observers about events, each in its own thread, which can be abandoned."""

from __future__ import annotations

import inspect
import logging
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from queue import Empty
from typing import Any

import pluggy

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import say_error
from automl_admm.plugins.event_hooks import EVENT_HOOKS
from automl_admm.search.guard.guard import LONGEST_CALL, SHARE_OF_TIME_LEFT, Helper

logger = logging.getLogger(__name__)
# The hook whose answers count.
STEERS = "should_stop"

SHORTEST = 1.0


@dataclass(eq=False)
class _Observer:
    """An observer by name: its methods by hook, and its thread."""

    name: str
    hooks: dict[str, Callable[..., Any]] = field(default_factory=dict)
    helper: Helper = field(default_factory=lambda: Helper(name="observer"))


@dataclass(frozen=True)
class Hurry:
    """Reasons to leave an observer early: the end of the budget, or an interrupt."""

    deadline: float | None = None
    is_interrupted: Callable[[], bool] = lambda: False

    def patience(self) -> float:
        """Return the longest time of a call: two minutes, or a quarter of the time left if less."""
        if self.deadline is None:
            return LONGEST_CALL
        left = self.deadline - time.monotonic()
        return min(LONGEST_CALL, max(left * SHARE_OF_TIME_LEFT, SHORTEST))


class Observers:
    """Tells observers about events, one by one.

    After an exception an observer is reported once, and hears no more of that hook. After a hang it
    is named, and hears nothing more; its thread is abandoned. Observers `requested` in words keep
    those names; others have the names of their classes.
    """

    def __init__(
        self,
        manager: pluggy.PluginManager,
        extra: Sequence[object] = (),
        hurry: Hurry | None = None,
        requested: Sequence[tuple[str, object]] = (),
    ) -> None:
        self._hurry = hurry or Hurry()
        named = [*requested, *((type(item).__name__, item) for item in extra)]
        self._observers = [*_registered(manager), *(_plain(name, item) for name, item in named)]
        helpers = [observer.helper for observer in self._observers]
        # A run that breaks off tells nobody that it has finished.
        self._leave = weakref.finalize(self, _stop, helpers)

    def tell(self, hook: str, **arguments: Any) -> list[Any]:
        """Call the listeners of a hook and return their answers."""
        answers = []
        for observer in list(self._observers):
            if hook in observer.hooks:
                answers += self._call(observer, hook, arguments)
        if hook == "run_finished":
            self._leave()
        return answers

    def _call(self, observer: _Observer, hook: str, arguments: dict[str, Any]) -> list[Any]:
        """The answer, if there is one."""
        patience = self._hurry.patience()
        # What the caller has set for its own context holds for its callbacks, too.
        shown = {name: _own(value) for name, value in arguments.items()}
        call = partial(copy_context().run, partial(observer.hooks[hook], **shown))
        begun = time.monotonic()
        try:
            answer, problem = observer.helper.call(call, patience, self._hurry.is_interrupted)
        except Empty:
            self._observers.remove(observer)
            told = (
                "observer '%s' is dropped for this run: it did not come back from %s within %.3g s"
            )
            logger.warning(told, observer.name, hook, time.monotonic() - begun)
            observer.helper.stop()
            return []
        if problem is None and hook == STEERS:
            problem = _neither(answer)
        if problem is None:
            return [answer]
        if isinstance(problem, KeyboardInterrupt):
            raise problem
        told = "observer '%s' failed in %s and is dropped for this run: %s"
        logger.warning(told, observer.name, hook, say_error(problem))
        logger.debug("what observer '%s' raised", observer.name, exc_info=problem)
        del observer.hooks[hook]
        return []


def _neither(answer: Any) -> Exception | None:
    """Return the error of an answer that is neither true nor false, such as an array."""
    try:
        bool(answer)
    except Exception as problem:  # noqa: BLE001 - it may be anything
        return problem
    return None


def _own(value: Any) -> Any:
    """Return a copy of an evaluation, for an observer that may change it; others as they are."""
    if not isinstance(value, Evaluation):
        return value
    return replace(value, details=deepcopy(dict(value.details)))


def _registered(manager: pluggy.PluginManager) -> Iterable[_Observer]:
    """Return the observing plugins in the order of their registration."""
    found: dict[str, _Observer] = {}
    for hook in EVENT_HOOKS:
        for implementation in reversed(getattr(manager.hook, hook).get_hookimpls()):
            name = implementation.plugin_name
            observer = found.setdefault(name, _Observer(name))
            observer.hooks[hook] = _only_its_arguments(implementation)
    names = [name for name, _ in manager.list_name_plugin()]
    return sorted(found.values(), key=lambda observer: names.index(observer.name))


def _plain(name: str, item: object) -> _Observer:
    methods = {hook: getattr(item, hook) for hook in EVENT_HOOKS if hasattr(item, hook)}
    return _Observer(name, {hook: _with_its_arguments(methods[hook]) for hook in methods})


def _only_its_arguments(implementation: pluggy.HookImpl) -> Callable[..., Any]:
    def call(**arguments: Any) -> Any:
        return implementation.function(*(arguments[name] for name in implementation.argnames))

    return call


def _with_its_arguments(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a plain method take only some arguments, like an implementation of a hook."""
    wanted = inspect.signature(method).parameters

    def call(**arguments: Any) -> Any:
        return method(**{name: value for name, value in arguments.items() if name in wanted})

    return call


def _stop(helpers: Sequence[Helper]) -> None:
    for helper in helpers:
        helper.stop()
