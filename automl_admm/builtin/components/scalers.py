"""Components that change the scale of every column."""

from __future__ import annotations

from collections.abc import Iterator

from automl_admm.builtin.components.declare import (
    Arguments,
    choice,
    flag,
    of,
    real,
    switch,
    transformer,
    whole,
)
from automl_admm.plugins.records import ComponentPlugin

PREPROCESSING = "sklearn.preprocessing"


# Table A2, continuous and discrete parameters: normalizer, min_max, standard and binarizer none;
# quantile 2d; robust 2c 2d; k_bins 2d.
def components() -> Iterator[ComponentPlugin]:
    """Yield the scalers of the paper's Table A2."""
    yield transformer("normalizer", "rows of length one", of(PREPROCESSING, "Normalizer"))
    yield transformer("min_max_scaler", "columns to [0, 1]", of(PREPROCESSING, "MinMaxScaler"))
    yield transformer(
        "standard_scaler", "mean 0 and variance 1", of(PREPROCESSING, "StandardScaler")
    )
    yield transformer("binarizer", "1 where above 0, else 0", of(PREPROCESSING, "Binarizer"))
    yield transformer(
        "quantile_transformer",
        "columns to a uniform or normal distribution",
        of(PREPROCESSING, "QuantileTransformer"),
        whole("n_quantiles", 10, 2000, 1000, log=True),
        switch("output_distribution", "uniform", "normal"),
        # More quantiles than rows only bring a warning.
        n_quantiles="rows",
    )
    yield transformer(
        "robust_scaler",
        "centres and scales by quantiles, whatever outliers do",
        of(PREPROCESSING, "RobustScaler", robust_arguments),
        real("q_min", 0.1, 30.0, 25.0),
        real("q_max", 70.0, 99.9, 75.0),
        flag("with_centering", default=True),
        flag("with_scaling", default=True),
    )
    yield transformer(
        "k_bins_discretizer",
        "columns to a few ordered steps",
        of(
            PREPROCESSING,
            "KBinsDiscretizer",
            encode="ordinal",
            # Named, because scikit-learn's default changed between versions.
            quantile_method="averaged_inverted_cdf",
        ),
        whole("n_bins", 2, 50, 5, log=True),
        choice("strategy", "uniform", "quantile", "kmeans"),
        n_bins="rows",
    )


def robust_arguments(values: Arguments) -> Arguments:
    """Join the two quantiles (in per cent) into scikit-learn's `quantile_range`."""
    low, high = values.pop("q_min", 25.0), values.pop("q_max", 75.0)
    return {**values, "quantile_range": (low, high)}
