"""Fitted pipelines seen by scorers and limits: from memory, decided otherwise, by numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from automl_admm.core.read_only import own_array, own_frame, read_only
from automl_admm.pipelines.labels import are_decided, is_turned, number_decided, sorted_order
from automl_admm.pipelines.predictions.checks import turn

SCORES = ("predict_proba", "decision_function")


class _Seen:
    """A fitted pipeline; what a subclass does not answer itself, the pipeline answers."""

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._pipeline, name)

    def __getitem__(self, step: Any) -> Any:
        return self._pipeline[step]

    def __sklearn_tags__(self) -> Any:
        return self._pipeline.__sklearn_tags__()


class Remembered(_Seen):
    """A fitted pipeline with a memory: it predicts the same rows only once.

    A scorer repeats earlier predictions; for neighbours and kernels they are most of the cost. One
    that asks for another kind of prediction finds the rows transformed already.
    """

    # Their predictions are held to the contract of components here, or by scikit-learn's own tests.
    KNOWN = ("sklearn", "automl_admm")
    # Scorers ask these alone.
    RESPONSES = ("predict", "predict_proba", "decision_function")

    def __init__(self, pipeline: Any) -> None:
        super().__init__(pipeline)
        self._answers: dict[str, tuple[Any, Any]] = {}
        self._front, self._last = _parted(pipeline)
        self._transformed: tuple[Any, Any] = (None, None)

    def forget_rows(self) -> None:
        """Let go of transformed rows, which may be many; predictions stay."""
        self._transformed = (None, None)
        if self._last is not None:
            self._last.forget_rows()

    def was_asked(self, method: str) -> bool:
        """Return True if this method was called."""
        return method in self._answers

    def answer(self, method: str) -> Any:
        """Return the latest answer of this method; None if it was not called."""
        return self._answers.get(method, (None, None))[1]

    @property
    def is_known(self) -> bool:
        """True if the last step is a class of scikit-learn, or of this package."""
        if self._last is not None:
            return self._last.is_known
        _, last = getattr(self._pipeline, "steps", [("", self._pipeline)])[-1]
        return type(last).__module__.partition(".")[0] in self.KNOWN

    def first_labels(self, X: Any, count: int) -> Any:
        """Return the predictions of the first rows; as a rule the rows are transformed already."""
        if self._last is not None:
            return self._last.first_labels(self._arriving(X), count)
        # Some sparse rows cannot be sliced.
        rows = X.tocsr() if hasattr(X, "tocsr") else X
        return self._pipeline.predict(rows.iloc[:count] if hasattr(rows, "iloc") else rows[:count])

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        return self._remembering(found) if name in self.RESPONSES else found

    def _remembering(self, method: Any) -> Any:
        @wraps(method)
        def respond(X: Any) -> Any:
            rows, answer = self._answers.get(method.__name__, (None, None))
            # By identity: comparing the rows would cost as much as many a prediction.
            if rows is not X:
                # All limits see the same answer; who asks may write to a copy.
                answer = read_only(self._ask(method, X))
                self._answers[method.__name__] = (X, answer)
            return own_array(answer)

        return respond

    def _ask(self, method: Any, X: Any) -> Any:
        if self._last is None:
            # A model of anybody else may change its rows, and limits are measured on them.
            return method(X if self.is_known else own_frame(X))
        return getattr(self._last, method.__name__)(self._arriving(X))

    def _arriving(self, X: Any) -> Any:
        """Return what the last step is given; the same rows are transformed only once."""
        rows, transformed = self._transformed
        if rows is not X:
            transformed = own_frame(X)
            # Step by step: a pipeline that ends in a step without a state counts as not fitted.
            for _, step in self._front.steps:
                transformed = step.transform(transformed)
            self._transformed = (X, transformed)
        return transformed


def _parted(pipeline: Any) -> tuple[Any, Remembered | None]:
    """Return the steps before the last one, and the last with a memory of its own, if any."""
    from sklearn.pipeline import Pipeline

    # A class of anybody else may predict in its own way.
    if type(pipeline) is not Pipeline or len(pipeline.steps) == 1:
        return None, None
    return pipeline[:-1], Remembered(pipeline[-1])


class Decided(_Seen):
    """A fitted pipeline with given decisions; everything else of it stays visible."""

    def __init__(self, pipeline: Any, decide: Callable[[Any], Any]) -> None:
        super().__init__(pipeline)
        self._decide = decide

    def predict(self, X: Any) -> Any:
        """The decisions, as labels."""
        return self._decide(X)


class Filled(_Seen):
    """A pipeline that leaves rows undecided, with some class in place of None.

    It tells if it was asked for decisions: only then it matters which rows have one.
    """

    def __init__(self, pipeline: Any) -> None:
        super().__init__(pipeline)
        self.was_asked = False

    def predict(self, X: Any) -> Any:
        """The labels, one for each row."""
        self.was_asked = True
        told, classes = np.asarray(self._pipeline.predict(X)), np.asarray(self._pipeline.classes_)
        filled = np.full(len(told), classes[0], dtype=classes.dtype)
        is_decided = are_decided(told)
        filled[is_decided] = told[is_decided]
        return filled


class InPart(_Seen):
    """A pipeline seen on the rows of a `part`, where `answer` tells its answer by each method."""

    def __init__(self, pipeline: Any, part: Any, answer: Callable[[str], Any]) -> None:
        super().__init__(pipeline)
        self._part = part
        self._answer = answer

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        return self._answering(found) if name in Remembered.RESPONSES else found

    def _answering(self, method: Any) -> Any:
        # Scorers go by the name of the method.
        @wraps(method)
        def respond(X: Any) -> Any:
            # A user's scorer may ask about other rows than those that it is given.
            return self._answer(method.__name__) if X is self._part else method(X)

        return respond


def on_decided(pipeline: Any, whole: Any, part: Any, places: Any) -> InPart:
    """Return a pipeline seen on the rows that it decides, a `part` at these places of the `whole`.

    There it answers from its answers to all of them.
    """

    def answer(method: str) -> Any:
        told = np.asarray(getattr(pipeline, method)(whole))[places]
        # scikit-learn takes no objects for numbers.
        return told.astype(np.asarray(pipeline.classes_).dtype) if method == "predict" else told

    return InPart(pipeline, part, answer)


class Numbered(_Seen):
    """A pipeline fitted on labels, shown to limits as one fitted on class numbers.

    The steps inside of a `FixedThresholdClassifier` and its like stay visible, too.
    """

    def __init__(self, pipeline: Any, classes: Any) -> None:
        super().__init__(pipeline)
        self._labels = classes
        self.classes_ = np.arange(len(classes))

    @property
    def as_fitted(self) -> Any:
        """The pipeline as fitted on labels."""
        return self._pipeline

    def predict(self, X: Any) -> Any:
        """The numbers of the predicted labels, UNDECIDED for rows without one."""
        return number_decided(self._pipeline.predict(X), self._numbers)

    def _numbers(self, labels: Any) -> Any:
        order = sorted_order(self._labels)
        return order[np.searchsorted(self._labels, labels, sorter=order)]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in SCORES and is_turned(self._labels):
            return self._turning(getattr(self._pipeline, name))
        if not hasattr(self._pipeline, name) and hasattr(self._pipeline, "estimator_"):
            return getattr(self._pipeline.estimator_, name)
        return getattr(self._pipeline, name)

    def _turning(self, method: Any) -> Any:
        """The same method, its answer in the order of the numbers."""

        @wraps(method)
        def respond(X: Any) -> Any:
            return turn(method(X), self._labels)

        return respond


def with_labels(pipeline: Any) -> Any:
    """Return the pipeline as it was fitted, on labels, if it is seen by their numbers."""
    return pipeline.as_fitted if isinstance(pipeline, Numbered) else pipeline
