"""Syntax tree + components → search space and shape.

Names are shown to users and kept in stores, so they follow from the text alone:

- a choice as the body of a rule has its name: `scaler: a | b` is "scaler";
- a choice inside a sequence has the rule's name and a number: "start.1", "start.2";
- a repetition is a choice of a number: "start.1" takes "1", "2" or "3";
- `any_order` has the rule's name and "order": "start.order";
- a rule as an alternative of a choice is named below it, with all of its content:
  "estimator.boosting"; sequences and branches do not show in names;
- a rule with only another rule as its body lends it its own name;
- a component's parameter is named after the choice or rule around it, the component and the
  argument: "estimator.random_forest.n_estimators";
- a taken name gets a number: "scaler#2"; so does the second of two labels alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from automl_admm.core.space import Choice, Condition, Decision, Order, Parameter, SearchSpace, Value
from automl_admm.core.structure.pipeline_space import (
    NOTHING,
    Alternatives,
    ByType,
    Module,
    Ordered,
    PipelineSpace,
    Sequence,
    Shape,
    Stack,
    Union,
)
from automl_admm.grammar import tree as model
from automl_admm.grammar.check.before_pairs import pairs_of
from automl_admm.grammar.check.ranges import arguments_of
from automl_admm.grammar.tree import NONE, START, Node, free_labels, free_name, label
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.registry import Registry


def unfold(
    rules: Mapping[str, Node], components: Registry[ComponentPlugin], *, has_gaps: bool = True
) -> PipelineSpace:
    """Unfold the rules from `start`; they must have passed every check.

    A component that begins a pipeline is not searched for what matters in gaps alone, if the table
    has none.
    """
    unfolding = _Unfolding(rules, components, has_gaps)
    shape = unfolding.rule(START, unfolding.claim(START), _Place("", "", None, is_first=True))
    space = SearchSpace(tuple(unfolding.decisions), tuple(unfolding.parameters))
    return PipelineSpace(space, shape)


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a node in the unfolded tree.

    `path` names the decisions and components here, `above` is the prefix of the rules used here,
    and `when` is the condition for the place to be active. Nothing stands before one that
    `is_first`: it is given the table as it is.
    """

    path: str
    above: str
    when: Condition | None
    is_first: bool = False

    @property
    def later(self) -> _Place:
        """The place behind this one."""
        return replace(self, is_first=False)


@dataclass
class _Unfolding:
    """The decisions and parameters found so far, a parent before its children."""

    rules: Mapping[str, Node]
    components: Registry[ComponentPlugin]
    has_gaps: bool = True
    decisions: list[Decision] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def claim(self, name: str) -> str:
        """Return the name, with a number if it is taken."""
        free = free_name(name, self.taken)
        self.taken.add(free)
        return free

    def rule(self, name: str, path: str, place: _Place) -> Shape:
        """Unfold a rule under a path claimed for it."""
        body = self.rules[name]
        # Such a rule lends its name; a chain of them ends, as the rules have no cycles.
        while isinstance(body, model.Reference) and body.name in self.rules:
            body = self.rules[body.name]
        if isinstance(body, model.Choice):
            return self.choice(body, path, place)
        if isinstance(body, model.Repetition):
            return self.repeated(body, path, place)
        return self.node(body, replace(place, path=path))

    def node(self, node: Node, place: _Place) -> Shape:  # noqa: PLR0911 - one for each kind
        """Unfold the node at a place."""
        match node:
            case model.Reference(name) if name in self.rules:
                path = self.claim(_below(place.above, label(node)))
                return self.rule(name, path, place)
            case model.Reference(name):
                return NOTHING if name == NONE else self.module(name, place)
            case model.Sequence(items):
                return _sequence(
                    [self.node(item, place.later if n else place) for n, item in enumerate(items)]
                )
            case model.Call(name, arguments):
                return self.module(name, place, arguments)
            case model.Aliased(item):
                return self.node(item, place)
            case model.Choice():
                return self.choice(node, self.claim_numbered(place.path), place)
            case model.Repetition(low=low, high=high):
                name = self.claim_numbered(place.path) if low < high else place.path
                return self.repeated(node, name, place)
            case model.Template():
                return self.template(node, place)
            case model.Unsupported(what):
                raise AssertionError(what)

    def claim_numbered(self, path: str) -> str:
        """Return the first free name of path.1, path.2, …."""
        number = 1
        while f"{path}.{number}" in self.taken:
            number += 1
        return self.claim(f"{path}.{number}")

    def choice(self, node: model.Choice, name: str, place: _Place) -> Shape:
        """A decision with one branch an alternative."""
        labels = free_labels(node.alternatives)
        # Before its branches: a parent stands before the decisions that depend on it.
        self.decisions.append(Choice(name, labels, place.when))
        pairs = zip(labels, node.alternatives, strict=True)
        inner = replace(place, path=name, above=name)
        branches = tuple((text, self.alternative(item, inner, text)) for text, item in pairs)
        return Alternatives(name, branches)

    def alternative(self, node: Node, choice: _Place, text: str) -> Shape:
        """Unfold an alternative of a choice; a rule has a path of its own below the choice."""
        place = replace(choice, when=Condition(choice.path, (text,)))
        node = node.item if isinstance(node, model.Aliased) else node
        if isinstance(node, model.Reference) and node.name in self.rules:
            path = self.claim(_below(choice.path, label(node)))
            return self.rule(node.name, path, replace(place, above=path))
        return self.node(node, place)

    def repeated(self, node: model.Repetition, name: str, place: _Place) -> Shape:
        """A decision between numbers; the first copy is the same, however many there are."""
        counts = tuple(map(str, range(node.low, node.high + 1)))
        if len(counts) > 1:
            self.decisions.append(Choice(name, counts, place.when))
        copies: list[Shape] = []
        for number in range(1, node.high + 1):
            enough = tuple(count for count in counts if int(count) >= number)
            # Copies that are always there need no condition.
            when = place.when if enough == counts else Condition(name, enough)
            here = place if number == 1 else place.later
            copies.append(self.node(node.item, replace(here, path=name, when=when)))
        if len(counts) == 1:
            return _sequence(copies)
        return Alternatives(name, tuple((c, _sequence(copies[: int(c)])) for c in counts))

    def template(self, node: model.Template, place: _Place) -> Shape:
        """An order, or branches side by side; branches do not show in names."""
        if node.name == model.ANY_ORDER:
            return self.ordered(node, place)
        pieces = tuple(self.node(item, place) for item in node.arguments)
        if node.name == model.UNION:
            return Union(pieces)
        return Stack(*pieces) if node.name == model.STACK else ByType(*pieces)

    def ordered(self, node: model.Template, place: _Place) -> Shape:
        """Return the order variables o of `any_order`, and the ordered pieces."""
        name = self.claim(_below(place.path, "order"))
        kept = [item for item in node.arguments if label(item) != NONE]
        pairs = pairs_of(node)
        self.decisions.append(Order(name, tuple(map(label, kept)), place.when, pairs))
        later = place.later  # any of them may stand behind another one
        return Ordered(name, tuple((label(item), self.node(item, later)) for item in kept), pairs)

    def module(
        self, name: str, place: _Place, arguments: tuple[model.Argument, ...] = ()
    ) -> Module:
        """A component, its parameters named after the place."""
        path = self.claim(_below(place.path, name))
        plugin = self.components.get(name)
        declared, fixed = arguments_of(plugin, arguments)
        idle = () if self.has_gaps or not place.is_first else _idle(plugin, declared)
        searched = [item for item in declared if item not in idle]
        for item in searched:
            named = replace(item, name=_below(path, item.name), when=_inner(item, path, place.when))
            if isinstance(named, Choice):
                self.decisions.append(named)
            else:
                self.parameters.append(named)
        mapped = tuple((item.name, _below(path, item.name)) for item in searched)
        constant = (*((item.name, item.value) for item in fixed), *map(_default, idle))
        return Module(name, mapped, constant, idle)


def _idle(
    plugin: ComponentPlugin, declared: Iterable[Parameter | Choice]
) -> tuple[Parameter | Choice, ...]:
    """Return the parameters without an effect; one that others hang on stays."""
    kept = tuple(declared)
    parents = {item.when.decision for item in kept if item.when is not None}
    names = set(plugin.idle_without_gaps) - parents
    return tuple(item for item in kept if item.name in names and item.when is None)


def _default(item: Parameter | Choice) -> tuple[str, Value]:
    if isinstance(item, Choice):
        return item.name, item.value(item.alternatives[0])
    return item.name, item.value(item.default_unit())


def _inner(item: Parameter | Choice, path: str, when: Condition | None) -> Condition | None:
    """Return a component's own condition on one of its choices, nested in that of the place."""
    if item.when is None:
        return when
    return Condition(_below(path, item.when.decision), item.when.alternatives)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _sequence(items: list[Shape]) -> Shape:
    flat: list[Shape] = []
    for item in items:
        flat.extend(item.items if isinstance(item, Sequence) else (item,))
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))
