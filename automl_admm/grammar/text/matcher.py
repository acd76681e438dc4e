"""Text → candidate: find a pipeline written as text in a pipeline space.

This is the inverse of `pipeline_space.render`. The ends of a shape from a place are computed once
for each (shape, row, place), so the time is bounded by the product of their numbers; orders have
more, and are bounded by a number of steps. An ambiguous text is read by the first way in the
grammar.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

from automl_admm.core.errors import AutomlAdmmError, ConfigurationError, suggest
from automl_admm.core.space import Candidate, Choice, Parameter, Pick
from automl_admm.core.structure.pipeline_space import (
    KINDS,
    Alternatives,
    ByType,
    Module,
    Ordered,
    PipelineSpace,
    Sequence,
    Shape,
    Stack,
    Union,
    all_modules,
    parts_of,
)
from automl_admm.core.structure.precedence import arrange, everything_before
from automl_admm.grammar.diagnostics import Diagnostic, render
from automl_admm.grammar.text.arguments import Bound, bind
from automl_admm.grammar.text.parser import (
    Row,
    TextCode,
    TextError,
    Written,
    WrittenBranches,
    WrittenStep,
    read_row,
    steps_of,
)
from automl_admm.grammar.tree import NONE, Span

MOST_STEPS = 300_000  # an order of n items has up to 2ⁿ states
COMMENT = "#"


def parse(
    text: str,
    pipelines: PipelineSpace,
    name: str = "pipeline",
    absent: Mapping[str, str] = MappingProxyType({}),
) -> Candidate:
    """Return the candidate of a text; missing arguments take their defaults.

    Raise `ConfigurationError` with the place of the first mistake; `name` is the name of the text
    in this message. It has the reason for an `absent` component of the grammar.
    """
    try:
        return _language(pipelines, absent).candidate(read_row(text))
    except TextError as problem:
        raise ConfigurationError(render([problem.diagnostic], text, name)) from None


def parse_lines(
    text: str,
    pipelines: PipelineSpace,
    name: str,
    absent: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Candidate, ...]:
    """Return the candidates of a file, one a line; empty lines and comments (#) are skipped.

    Raise `ConfigurationError` with the first mistake of every line.
    """
    language = _language(pipelines, absent)
    found: dict[str, Candidate] = {}
    problems: list[Diagnostic] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith(COMMENT):
            continue
        try:
            candidate = language.candidate(read_row(line, number))
        except TextError as problem:
            problems.append(problem.diagnostic)
        else:
            found.setdefault(pipelines.key(candidate), candidate)
    if problems:
        raise ConfigurationError(render(problems, text, name))
    return tuple(found.values())


def find_derived(texts: Iterable[str], pipelines: PipelineSpace) -> dict[int, Candidate]:
    """Return the candidates of the texts that are pipelines of the grammar, by their place."""
    language = _language(pipelines)
    found: dict[int, Candidate] = {}
    for place, text in enumerate(texts):
        with suppress(TextError, AutomlAdmmError):
            row = _read_once(text)
            # Most texts end here, and nobody reads what is wrong with them.
            if all(step.component in language.modules for step in steps_of(row)):
                found[place] = language.candidate(row)
    return found


# Every run asks for the same some dozens of texts.
_read_once = lru_cache(maxsize=1024)(read_row)


def _language(
    pipelines: PipelineSpace, absent: Mapping[str, str] = MappingProxyType({})
) -> _Language:
    """Return the language to match texts against."""
    modules: dict[str, list[Module]] = {}
    for module in all_modules(pipelines.shape):
        modules.setdefault(module.component, []).append(module)
    choices = (item for item in pipelines.space.decisions if isinstance(item, Choice))
    declared: dict[str, Choice | Parameter] = {item.name: item for item in choices}
    declared.update((item.name, item) for item in pipelines.space.parameters)
    return _Language(pipelines, modules, declared, absent)


@dataclass(frozen=True)
class _Language:
    """A pipeline space, its modules by component, and its searched axes by name."""

    pipelines: PipelineSpace
    modules: Mapping[str, list[Module]]
    declared: Mapping[str, Choice | Parameter]
    absent: Mapping[str, str]

    def candidate(self, row: Row) -> Candidate:
        """Return the candidate of a row."""
        # First step by step: an unknown name is a clearer mistake than a text outside the language.
        self.check(row)
        found = _Matching(self.declared).whole(self.pipelines.shape, row)
        space = self.pipelines.space
        picks: dict[str, Pick] = {}
        theta = space.default_theta()
        places = {parameter.name: i for i, parameter in enumerate(space.parameters)}
        for bound in _flat(found):
            picks.update(bound.picks)
            for name, unit in bound.units:
                theta[places[name]] = unit
        return space.candidate(space.complete(picks), theta)

    def check(self, row: Row) -> None:
        """Raise for a step without a matching module anywhere."""
        for step in steps_of(row):
            modules = self.modules.get(step.component)
            if modules is None:
                why = self.absent.get(step.component)
                message = f"no pipeline here has a step '{step.component}'"
                message += f": it is in the grammar, but {why}" if why else ""
                help_ = "" if why else suggest(step.component, self.modules)
                raise TextError(step.span, message, help_, code=TextCode.UNKNOWN_COMPONENT)
            first = bind(modules[0], step, self.declared)
            others = (bind(module, step, self.declared) for module in modules[1:])
            if isinstance(first, TextError) and all(isinstance(b, TextError) for b in others):
                raise first


# What a stretch of a row says of decisions and parameters: bounds, nested as they were found.
Found = Bound | tuple["Found", ...]
Ends = dict[int, Found]


def _flat(found: Found) -> Iterator[Bound]:
    # Without recursion: the nesting grows with the length of a row.
    waiting: list[Found] = [found]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Bound):
            yield item
        else:
            waiting.extend(item)


@dataclass
class _Failure:
    """The farthest readable place of a text, and the possible continuations there."""

    span: Span = field(default_factory=lambda: Span(0, 0, 0, 0))
    found: Written | None = None
    expected: dict[str, None] = field(default_factory=dict)
    problem: TextError | None = None

    def note(
        self, row: Row, place: int, expected: str | None, problem: TextError | None = None
    ) -> None:
        """Remember a failure; forget those at earlier places."""
        item = row.items[place] if place < len(row.items) else None
        span = row.end if item is None else item.span
        if span < self.span:
            return
        if span > self.span:
            self.span, self.found, self.expected, self.problem = span, item, {}, None
        self.problem = self.problem or problem
        if expected is not None:
            self.expected.setdefault(expected)

    def error(self) -> TextError:
        """It as one mistake."""
        if self.problem is not None:
            return self.problem
        message = "something is missing here" if self.found is None else _misplaced(self.found)
        expected = sorted(self.expected)
        help_ = (
            f"Here may stand: {', '.join(expected)}." if expected else "Nothing may follow here."
        )
        return TextError(self.span, message, help_, code=TextCode.NOT_IN_LANGUAGE)


def _misplaced(item: Written) -> str:
    name = item.kind if isinstance(item, WrittenBranches) else item.component
    return f"'{name}' cannot stand here"


@dataclass
class _Matching:
    """The shapes of a space against the rows of one text."""

    declared: Mapping[str, Choice | Parameter]
    failure: _Failure = field(default_factory=_Failure)
    known: dict[tuple[int, int, int], Ends] = field(default_factory=dict)
    steps: int = 0

    def whole(self, shape: Shape, row: Row) -> Found:
        """Return the decisions of a row that a shape covers completely; raise if it does not."""
        found = self.all_of(shape, row)
        if found is None:
            raise self.failure.error()
        return found

    def all_of(self, shape: Shape, row: Row) -> Found | None:
        """Return the decisions of a row, None if the shape does not cover it."""
        ends = self.ends(shape, row, 0)
        if ends and len(row.items) not in ends:
            self.failure.note(row, max(ends), None)
        return ends.get(len(row.items))

    def ends(self, shape: Shape, row: Row, place: int) -> Ends:
        """Return the possible ends of a shape from a place, each with the decisions up to there."""
        self.spend(row)
        # By identity: equality would walk the trees, and all of them outlive the matching.
        key = (id(shape), id(row), place)
        if key not in self.known:
            self.known[key] = self._ends(shape, row, place)
        return self.known[key]

    def spend(self, row: Row) -> None:
        """Count a step; give up a text with very many readings."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            message = "the text can be read in too many ways"
            raise TextError(row.end, message, code=TextCode.TOO_LARGE)

    def _ends(self, shape: Shape, row: Row, place: int) -> Ends:
        match shape:
            case Module():
                return self._module(shape, row, place)
            case Sequence(items):
                return self._sequence(items, row, place)
            case Alternatives(decision, branches):
                return self._alternatives(decision, branches, row, place)
            case Ordered():
                return self._ordered(shape, row, place)
            case Union() | Stack() | ByType():
                return self._branches(shape, row, place)

    def _module(self, module: Module, row: Row, place: int) -> Ends:
        item = row.items[place] if place < len(row.items) else None
        if not isinstance(item, WrittenStep) or item.component != module.component:
            self.failure.note(row, place, module.component)
            return {}
        bound = bind(module, item, self.declared)
        if isinstance(bound, TextError):
            self.failure.note(row, place, None, bound)
            return {}
        return {place + 1: bound}

    def _branches(self, shape: Union | Stack | ByType, row: Row, place: int) -> Ends:
        """Cover branches of the same kind, part by part."""
        item = row.items[place] if place < len(row.items) else None
        kind, shapes = KINDS[type(shape)], parts_of(shape)
        if not isinstance(item, WrittenBranches) or item.kind != kind:
            self.failure.note(row, place, f"{kind}{{…}}")
            return {}
        if len(item.parts) != len(shapes):
            message = f"'{kind}' has {len(item.parts)} parts, and here it is one of {len(shapes)}"
            help_ = f"Write '{NONE}' for an empty part."
            problem = TextError(item.span, message, help_, code=TextCode.NOT_IN_LANGUAGE)
            self.failure.note(row, place, None, problem)
            return {}
        found: list[Found] = []
        for part, inner in zip(shapes, item.parts, strict=True):
            covered = self.all_of(part, inner)
            if covered is None:  # a mistake in this part is told before one in the next
                return {}
            found.append(covered)
        return {place + 1: tuple(found)}

    def _sequence(self, items: tuple[Shape, ...], row: Row, place: int) -> Ends:
        reached: Ends = {place: ()}
        for item in items:
            further: Ends = {}
            for middle, before in reached.items():
                for end, found in self.ends(item, row, middle).items():
                    # The first way in the grammar is kept.
                    further.setdefault(end, (before, found))
            reached = further
        return reached

    def _alternatives(
        self, decision: str, branches: tuple[tuple[str, Shape], ...], row: Row, place: int
    ) -> Ends:
        reached: Ends = {}
        for label, shape in branches:
            for end, found in self.ends(shape, row, place).items():
                reached.setdefault(end, (Bound(picks=((decision, label),)), found))
        return reached

    def _ordered(self, shape: Ordered, row: Row, place: int) -> Ends:
        """Cover by some of the items, one after another; the others must do with nothing."""
        before = everything_before(shape.precedence)
        states: dict[tuple[frozenset[int], int], tuple[tuple[int, ...], Found]]
        states = {(frozenset(), place): ((), ())}
        waiting = list(states)
        for used, middle in waiting:  # grows while it is read
            order, said = states[used, middle]
            for number in range(len(shape.items)):
                if number in used:
                    continue
                for end, found in self.ends(shape.items[number][1], row, middle).items():
                    state = (used | {number}, end)
                    # Items that cover nothing are left to `_rest`.
                    if end == middle or state in states:
                        continue
                    if late := [later for later in order if number in before.get(later, ())]:
                        problem = _too_late(shape, number, late[0], row.items[middle])
                        self.failure.note(row, middle, None, problem)
                        break
                    states[state] = ((*order, number), (said, found))
                    waiting.append(state)
        reached: Ends = {}
        for (_, end), (order, found) in states.items():
            rest = self._rest(shape, order, row, place)
            if rest is not None:
                reached.setdefault(end, (_order_bound(shape, order), found, rest))
        return reached

    def _rest(self, shape: Ordered, order: tuple[int, ...], row: Row, place: int) -> Found | None:
        """Return the decisions to empty the remaining items of an order; None if impossible."""
        others = [i for i in range(len(shape.items)) if i not in order]
        empty = [self.ends(shape.items[i][1], row, place).get(place) for i in others]
        known = tuple(found for found in empty if found is not None)
        return known if len(known) == len(empty) else None


def _too_late(shape: Ordered, number: int, later: int, item: Written) -> TextError:
    """Say the mistake of an item behind one of its successors."""
    name, other = shape.items[number][0], shape.items[later][0]
    message = f"'{name}' stands before '{other}' in this order, not behind it"
    return TextError(item.span, message, code=TextCode.NOT_IN_LANGUAGE)


def _order_bound(shape: Ordered, order: tuple[int, ...]) -> Bound:
    """Return the pick of an order: as in the grammar, if this comes to the same.

    Empty items go to any place allowed by the precedence.
    """
    every = arrange(range(len(shape.items)), shape.precedence)
    is_written = list(order) == [i for i in every if i in order]
    rest = tuple(i for i in every if i not in order)
    kept = (*shape.precedence, *pairwise(order))
    whole = every if is_written else arrange((*order, *rest), kept)
    return Bound(picks=((shape.decision, tuple(shape.items[i][0] for i in whole)),))
