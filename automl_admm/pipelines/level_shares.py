"""Category columns as the frequency of their levels, which scikit-learn has no encoder for."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.validation import check_is_fitted

# The places of a missing value and of a new level; real levels follow. `pipeline.py` has these
# names beside its own, such as MISSING.
NO_VALUE, NEW_LEVEL, FIRST_LEVEL = 0, 1, 2


class LevelShares(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer from the level of a row to the share of the training rows that have it.

    A missing value is a level; a level that training did not have has the share 0.
    """

    def fit(self, X: Any, y: Any = None) -> LevelShares:  # noqa: ARG002
        """Count the levels of every column."""
        self.encoder_ = OrdinalEncoder(
            handle_unknown="use_encoded_value",
            unknown_value=NEW_LEVEL - FIRST_LEVEL,
            encoded_missing_value=NO_VALUE - FIRST_LEVEL,
        ).fit(X)
        places = self._places(X)
        self.shares_ = [
            np.bincount(column, minlength=FIRST_LEVEL + len(levels)) / len(column)
            for column, levels in zip(places.T, self.encoder_.categories_, strict=True)
        ]
        return self

    def transform(self, X: Any) -> Any:
        """Look up the share of every level."""
        check_is_fitted(self)
        places = self._places(X)
        return np.column_stack(
            [shares[column] for shares, column in zip(self.shares_, places.T, strict=True)]
        )

    def _places(self, X: Any) -> Any:
        return self.encoder_.transform(X).astype(np.intp) + FIRST_LEVEL

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return int(self.encoder_.n_features_in_)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Name every column as it came in."""
        return self.encoder_.get_feature_names_out(input_features)
