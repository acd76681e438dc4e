"""The built-in components: scikit-learn's transformers and estimators, with ranges to search.

Components of the paper's Table A2 (Liu et al. 2020, appendix 7) search exactly as many continuous
and discrete parameters as the table says; the ranges follow auto-sklearn's. Begin with `declare`,
the vocabulary of declarations; the other modules are tables by topic. Import scikit-learn inside
factories only, so that listing components stays quick.
"""

from __future__ import annotations

from collections.abc import Iterator

from automl_admm.builtin.components import (
    encoding,
    estimators,
    linear,
    scalers,
    selectors,
    transformers,
    trees,
    weighers,
)
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.specs import hookimpl


@hookimpl
def components() -> Iterator[ComponentPlugin]:
    """Yield every built-in component; one name may have a record for each task."""
    topics = (encoding, scalers, transformers, selectors, weighers, trees, linear, estimators)
    for module in topics:
        yield from module.components()
