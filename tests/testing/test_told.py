"""The contracts of grammars, observers, exporters and commands find each fault."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import SkipTest

import click
import pytest

from automl_admm.core.errors import GrammarError
from automl_admm.plugin_api import CommandPlugin, ExporterPlugin, GrammarPlugin
from automl_admm.plugins.loading import load_plugins
from automl_admm.testing.check import BROKEN, ask, promises_of
from automl_admm.testing.contracts import (
    CommandContract,
    ExporterContract,
    GrammarContract,
    ObserverContract,
)

GRAMMAR = """
%import components (impute, decision_tree, ridge)
start: impute (decision_tree | ridge)
"""


def keep(contract: Any) -> None:
    """Hold a contract to all of its promises."""
    for name in promises_of(type(contract)):
        with suppress(SkipTest):
            getattr(contract, name)()


class Shipped(GrammarContract):
    draws = 2
    name = ""

    def make(self) -> GrammarPlugin:
        return load_plugins().grammars.get(self.name)


@pytest.mark.parametrize("name", [record.name for record in load_plugins().grammars])
def test_a_grammar_that_ships_keeps_every_promise(name: str) -> None:
    contract = Shipped()
    contract.name = name
    keep(contract)


def grammar(path: Path, text: str, *quick: str) -> GrammarContract:
    file = path / "mine.lark"
    file.write_text(text, encoding="utf-8")

    class Contract(GrammarContract):
        draws = 1

        def make(self) -> GrammarPlugin:
            return GrammarPlugin(name="mine", summary="a grammar", path=file, quick=quick)

    return Contract()


def test_faults_of_a_grammar_are_found(tmp_path: Path) -> None:
    keep(grammar(tmp_path, GRAMMAR, "impute() decision_tree()"))
    with pytest.raises(GrammarError, match="unknown"):
        grammar(tmp_path, "start: unknown").test_it_compiles_without_a_diagnostic()
    with pytest.raises(AssertionError, match="it has none of pca"):
        grammar(tmp_path, GRAMMAR, "pca()").test_a_quick_pipeline_is_its_own()


class Quiet:
    def run_started(self, info: Any) -> None: ...

    def evaluation_finished(self, evaluation: Any) -> None: ...


def observer(*parts: type) -> ObserverContract:
    class Contract(ObserverContract):
        seconds = 0.2

        def make(self) -> Any:
            return type("Observer", parts, {})()

    return Contract()


class Naming(Quiet):
    def run_finished(self, info: Any, outcome: Any) -> None: ...


class Reading(Quiet):
    def run_finished(self, info: Any, result: Any) -> None:
        result.best.loss.hex()


class Failing(Quiet):
    def evaluation_finished(self, evaluation: Any) -> None:
        evaluation.constraints[0].hex()


class Slow(Quiet):
    def run_started(self, info: Any) -> None:
        time.sleep(0.3)


class Counting(Quiet):
    def should_stop(self, evaluations: int) -> Any:
        return evaluations


FAULTS = [
    (object, "it_listens", "it has no hook"),
    (Naming, "it_listens", "run_finished has no argument 'outcome'"),
    (Reading, "it_hears_a_run_without_a_result", "'NoneType'"),
    (Failing, "it_hears_every_failure", "out of range"),
    (Slow, "it_hears_a_whole_run", "run_started took 0.3 s"),
    (Counting, "it_stops_a_run_by_true_alone", "should_stop answered 0"),
]


def test_a_sound_observer_keeps_every_promise() -> None:
    keep(observer(Quiet))


@pytest.mark.parametrize(("kind", "promise", "says"), FAULTS)
def test_a_fault_of_an_observer_is_found(kind: type, promise: str, says: str) -> None:
    with pytest.raises((AssertionError, AttributeError, IndexError), match=says):
        getattr(observer(kind), f"test_{promise}")()


def exporter(write: Any) -> ExporterContract:
    class Contract(ExporterContract):
        def make(self) -> ExporterPlugin:
            return ExporterPlugin(name="mine", summary="a file", target="losses.txt", write=write)

    return Contract()


def losses(run: Any, target: str) -> str:
    Path(target).write_text(" ".join(str(one.loss) for one in run.log), encoding="utf-8")
    return f"{len(run.log)} losses in {target}"


def test_faults_of_an_exporter_are_found() -> None:
    keep(exporter(losses))
    with pytest.raises(AssertionError, match="no line of text"):
        exporter(lambda run, target: None).test_a_run_is_written_and_told_in_a_line()
    with pytest.raises(AssertionError, match="more than one line"):
        exporter(lambda run, target: "a\nb").test_a_run_that_goes_on_is_written()
    with pytest.raises(IndexError):
        exporter(
            lambda run, target: str(run.log[0])
        ).test_a_run_without_evaluations_is_no_obstacle()


def command(make: Any) -> CommandContract:
    class Contract(CommandContract):
        def make(self) -> CommandPlugin:
            return CommandPlugin(name="mine", summary="a command", factory=make)

    return Contract()


def test_faults_of_a_command_are_found() -> None:
    keep(command(lambda: click.Command("mine", help="Do it.")))
    with pytest.raises(AssertionError, match="no docstring"):
        command(lambda: click.Command("mine")).test_it_explains_itself()
    with pytest.raises(AssertionError):
        command(lambda: print).test_its_factory_makes_a_command()


class Unexplained(CommandContract):
    """A contract with a failure that says nothing."""

    def test_it_is_right(self) -> None:
        """Give the right answer."""
        raise AssertionError


def test_an_assertion_without_words_is_told_by_its_promise() -> None:
    said = "the promise is: Give the right answer. Not true: raise AssertionError"
    assert ask(Unexplained, "test_it_is_right") == (BROKEN, said)


class Cancelled(CommandContract):
    """A contract with a failure that is no Exception."""

    def test_it_is_right(self) -> None:
        """Give the right answer."""
        raise asyncio.CancelledError("by the loop")


def test_an_error_that_is_no_exception_breaks_a_promise_and_not_the_check() -> None:
    assert ask(Cancelled, "test_it_is_right") == (BROKEN, "CancelledError: by the loop")
