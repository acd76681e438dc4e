"""Trees, forests and boosted trees in ONNX, added in double precision in scikit-learn's order.

The operator of ONNX adds the values of leaves in single precision. Here it tells the number of the
leaf alone, for each tree; the values are taken from a table and added one tree after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from automl_admm.runs.saved.onnx_export.nodes import Nodes
from automl_admm.runs.saved.onnx_export.outputs import labels_of
from automl_admm.runs.saved.onnx_export.own_converters import Converter, nodes_in

TREES = (DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor)
FORESTS = (
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
)
BOOSTED = (GradientBoostingClassifier, GradientBoostingRegressor)
BINNED = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
# The names of results begin so: a mark on a node itself is lost where the converter renames inputs.
WORD = "in_double"
# So many trees are taken from the table at once: memory grows with it, as time does with 1.
AT_ONCE = 32
# What turns the sums of boosted trees into answers, by the name of the loss.
LINKS = {
    "HalfBinomialLoss": "Sigmoid",
    "HalfMultinomialLoss": "Softmax",
    **dict.fromkeys(("HalfPoissonLoss", "HalfGammaLoss"), "Exp"),
    **dict.fromkeys(("HalfSquaredError", "AbsoluteError", "PinballLoss", "HuberLoss"), ""),
}


def of_trees() -> dict[type, Converter]:
    """Return the converter of trees, by their classes."""
    return dict.fromkeys((*TREES, *FORESTS, *BOOSTED, *BINNED), Converter(_write, _tell_shape))


class TreesError(ValueError):
    """Trees with a part beyond the operators of ONNX."""


@dataclass(frozen=True)
class Tree:
    """The nodes of a tree, in arrays; `values` has a row for each node; those of leaves count.

    Where `goes_left`, a missing number does.
    """

    left: Any
    right: Any
    feature: Any
    threshold: Any
    goes_left: Any
    is_leaf: Any
    values: Any

    @classmethod
    def of_any(cls, found: Any, values: Any) -> Tree:
        """Read a tree of scikit-learn."""
        return cls(
            left=found.children_left,
            right=found.children_right,
            feature=found.feature,
            threshold=found.threshold,
            goes_left=found.missing_go_to_left,
            is_leaf=found.children_left < 0,
            values=values,
        )

    @classmethod
    def of_binned(cls, nodes: Any, values: Any, places: Any) -> Tree:
        """Read a tree of histograms; `places` are those of its columns among the given ones."""
        if nodes["is_categorical"].any():
            raise TreesError("a tree splits categories")
        return cls(
            left=nodes["left"],
            right=nodes["right"],
            feature=places[nodes["feature_idx"]],
            threshold=nodes["num_threshold"],
            goes_left=nodes["missing_go_to_left"],
            is_leaf=nodes["is_leaf"].astype(bool),
            values=values,
        )


def _trees_of(model: Any) -> Iterator[Tree]:
    """Yield the trees of a model in the order of their sum."""
    if isinstance(model, TREES):
        yield Tree.of_any(model.tree_, model.tree_.value[:, 0, :])
    elif isinstance(model, FORESTS):
        for one in model.estimators_:
            yield Tree.of_any(one.tree_, one.tree_.value[:, 0, :])
    elif isinstance(model, BOOSTED):
        for stage in model.estimators_:
            for at, one in enumerate(stage):
                values = model.learning_rate * one.tree_.value[:, 0, 0]
                yield Tree.of_any(one.tree_, _in_column(values, at, len(stage)))
    else:
        places = _places_of_columns(model)
        for stage in model._predictors:  # noqa: SLF001 - it has no public name
            for at, one in enumerate(stage):
                values = _in_column(one.nodes["value"], at, len(stage))
                yield Tree.of_binned(one.nodes, values, places)


def _places_of_columns(model: Any) -> Any:
    """Return the places of the columns that the trees count: categories come first there."""
    are_categories = model.is_categorical_
    if are_categories is None:
        return np.arange(model.n_features_in_)
    return np.argsort(~are_categories, kind="stable")


def _in_column(values: Any, at: int, width: int) -> Any:
    found = np.zeros((len(values), width))
    found[:, at] = values
    return found


def _start_of(model: Any) -> Any:
    """Return the start of the sum of a model's trees."""
    if isinstance(model, BOOSTED):
        if model.init_ != "zero" and not type(model.init_).__name__.startswith("Dummy"):
            raise TreesError("boosted trees begin with another model")
        return model._raw_predict_init(np.zeros((1, model.n_features_in_)))[0]  # noqa: SLF001
    if isinstance(model, BINNED):
        return np.ravel(model._baseline_prediction)  # noqa: SLF001 - it has no public name
    return 0.0


def _tell_shape(operator: Any) -> None:
    from skl2onnx.common import data_types

    model, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    width = 1
    if is_classifier(model):
        width = len(model.classes_)
        is_text = labels_of(model.classes_).dtype == object
        kind = data_types.StringTensorType if is_text else data_types.Int64TensorType
        operator.outputs[0].type = kind([rows])
    operator.outputs[-1].type = data_types.DoubleTensorType([rows, width])


def _write(scope: Any, operator: Any, container: Any) -> None:
    model, [given], outputs = operator.raw_operator, operator.inputs, operator.outputs
    with nodes_in(scope, container, WORD) as nodes:
        total = _sums(nodes, _rows(nodes, given, model), list(_trees_of(model)), _start_of(model))
        answers = _linked(nodes, total, model)
        if is_classifier(model):
            place = _place(nodes, total, answers, model)
            labels = nodes.add("Gather", nodes.array(labels_of(model.classes_)), place)
            nodes.name(labels, outputs[0].full_name)
        nodes.name(answers, outputs[-1].full_name)


def _rows(nodes: Nodes, given: Any, model: Any) -> str:
    """Return the rows as scikit-learn compares them with the thresholds of splits."""
    from onnx import TensorProto

    rows: str = given.full_name
    if not isinstance(model, BINNED):
        rows = nodes.add("Cast", rows, to=TensorProto.FLOAT)
    return nodes.as_double(rows)


def _linked(nodes: Nodes, total: str, model: Any) -> str:
    """Return the answers of a model from the sums of its trees."""
    if isinstance(model, FORESTS):
        return nodes.add("Div", total, nodes.number(float(len(model.estimators_))))
    if isinstance(model, TREES):
        return total
    link = _link_of(model)
    if link == "":
        return total
    if link == "Softmax":
        return nodes.add("Softmax", total, axis=1)
    if link == "Exp":
        return nodes.add("Exp", total)
    last = nodes.add("Sigmoid", total)
    return nodes.add("Concat", nodes.add("Sub", nodes.number(1.0), last), last, axis=1)


def _place(nodes: Nodes, total: str, answers: str, model: Any) -> str:
    """Return the place of each row's class, decided by the same values as in scikit-learn."""
    from onnx import TensorProto

    if not isinstance(model, (*BOOSTED, *BINNED)):
        return nodes.add("ArgMax", answers, axis=1, keepdims=0)
    if len(model.classes_) > 2:
        return nodes.add("ArgMax", total, axis=1, keepdims=0)
    # A sum of 0 is of the last class in the one kind, and of the first in the other.
    compare = "GreaterOrEqual" if isinstance(model, BOOSTED) else "Greater"
    is_last = nodes.add(compare, total, nodes.number(0.0))
    place = nodes.add("Cast", is_last, to=TensorProto.INT64)
    return nodes.add("Squeeze", place, nodes.whole(1))


def _link_of(model: Any) -> str:
    loss = type(model._loss).__name__  # noqa: SLF001 - it has no public name
    if loss not in LINKS:
        raise TreesError(f"boosted trees have the loss {loss}")
    return LINKS[loss]


def _sums(nodes: Nodes, rows: str, trees: list[Tree], start: Any) -> str:
    """Return `start` and the values of a row's leaves, added tree by tree."""
    tables = [tree.values[tree.is_leaf] for tree in trees]
    tables[0] = start + tables[0]
    firsts = np.cumsum([0, *map(len, tables)][:-1]).astype(np.int64)
    table = nodes.array(np.concatenate(tables).astype(float))
    return _added(nodes, table, _leaves(nodes, rows, trees, firsts), len(trees))


def _leaves(nodes: Nodes, rows: str, trees: list[Tree], firsts: Any) -> str:
    """Return the place of a row's leaf in the table for each tree.

    `firsts` are the places of the first leaf of each tree.
    """
    from onnx import TensorProto

    structure = _splits(trees) | _numbered_leaves(trees)
    leaves = nodes.add("TreeEnsembleRegressor", rows, domain="ai.onnx.ml", **structure)
    leaves = nodes.add("Cast", leaves, to=TensorProto.INT64)
    return nodes.add("Add", leaves, nodes.array(firsts))


def _added(nodes: Nodes, table: str, leaves: str, count: int) -> str:
    """Return the sum of the values of so many leaves, in their order."""
    total = ""
    axis, last = nodes.array(np.int64(1)), nodes.whole(-1)
    for begin in range(0, count, AT_ONCE):
        few = np.arange(begin, min(begin + AT_ONCE, count), dtype=np.int64)
        values = nodes.add("Gather", table, nodes.add("Gather", leaves, nodes.array(few), axis=1))
        values = nodes.add("Concat", total, values, axis=1) if total else values
        total = nodes.add("Gather", nodes.add("CumSum", values, axis), last, axis=1)
    return nodes.add("Squeeze", total, nodes.whole(1))


def _splits(trees: list[Tree]) -> dict[str, Any]:
    """Return the attributes of all nodes."""
    from onnx import numpy_helper

    def of_splits(name: str) -> list[Any]:
        return [np.where(tree.is_leaf, 0, getattr(tree, name)) for tree in trees]

    numbers = [np.arange(len(tree.is_leaf)) for tree in trees]
    thresholds = np.concatenate(of_splits("threshold")).astype(float)
    return {
        "nodes_treeids": _joined(_tree_of_each(numbers)),
        "nodes_nodeids": _joined(numbers),
        "nodes_modes": ["LEAF" if one else "BRANCH_LEQ" for tree in trees for one in tree.is_leaf],
        "nodes_featureids": _joined(of_splits("feature")),
        "nodes_values_as_tensor": numpy_helper.from_array(thresholds, "values"),
        "nodes_truenodeids": _joined(of_splits("left")),
        "nodes_falsenodeids": _joined(of_splits("right")),
        "nodes_missing_value_tracks_true": _joined(of_splits("goes_left")),
    }


def _numbered_leaves(trees: list[Tree]) -> dict[str, Any]:
    """Return the attributes of the leaves: the answer of each is its number in its tree."""
    from onnx import numpy_helper

    leaves = [np.flatnonzero(tree.is_leaf) for tree in trees]
    of_leaves = _joined(_tree_of_each(leaves))
    weights = np.array(_joined([np.arange(len(one)) for one in leaves]), dtype=float)
    return {
        "n_targets": len(trees),
        "target_treeids": of_leaves,
        "target_nodeids": _joined(leaves),
        "target_ids": of_leaves,
        "target_weights_as_tensor": numpy_helper.from_array(weights, "leaves"),
    }


def _tree_of_each(parts: list[Any]) -> list[Any]:
    """Return the number of the tree for each of its nodes."""
    return [np.full(len(one), at) for at, one in enumerate(parts)]


def _joined(parts: list[Any]) -> list[int]:
    return list(np.concatenate(parts).astype(np.int64).tolist())
