"""The libraries behind the components: where they are, and what may be wrong with them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Library:
    """A library of boosting: its package, its versions, and our `estimators` on top of it.

    One of its `distributions` brings the package. `native` are places of its compiled part.
    """

    component: str
    title: str
    package: str
    least: str
    distributions: tuple[str, ...]
    native: tuple[str, ...]
    install: str
    module: str
    estimators: tuple[str, str]


LIBRARIES = (
    Library(
        component="lightgbm",
        title="LightGBM",
        package="lightgbm",
        least="4.5",
        distributions=("lightgbm",),
        native=("lib/lib_lightgbm.so", "lib/lib_lightgbm.dylib"),
        install="pip install 'lightgbm>=4.5'",
        module="automl_admm_boost.light_gbm",
        estimators=("LightGBMClassifier", "LightGBMRegressor"),
    ),
    Library(
        component="xgboost",
        title="XGBoost",
        package="xgboost",
        least="2.1.1",
        distributions=("xgboost-cpu", "xgboost"),
        native=("lib/libxgboost.so", "lib/libxgboost.dylib"),
        install="pip install 'xgboost-cpu>=2.1.1'",
        module="automl_admm_boost.xg_boost",
        estimators=("XGBoostClassifier", "XGBoostRegressor"),
    ),
    Library(
        component="catboost",
        title="CatBoost",
        package="catboost",
        least="1.2.8",
        distributions=("catboost",),
        native=("_catboost.so",),
        install="pip install 'catboost>=1.2.8'",
        module="automl_admm_boost.cat_boost",
        estimators=("CatBoostClassifier", "CatBoostRegressor"),
    ),
)


def find_problem(library: Library) -> str:
    """Say in a few words why a library cannot be used here; empty if it can.

    The library is not imported. Its compiled part is loaded, which takes a few milliseconds and
    finds the want of a system library, such as OpenMP's, before any evaluation does.
    """
    spec = find_spec(library.package)
    if spec is None or not spec.submodule_search_locations:
        return f"{library.title} is not installed: {library.install}"
    version = _version(library)
    if version is not None and _numbers(version) < _numbers(library.least):
        return f"{library.title} {version} is older than {library.least}: {library.install}"
    for path in _native_files(library, Path(spec.submodule_search_locations[0])):
        try:
            ctypes.CDLL(str(path))
        except OSError as problem:
            return f"{library.title} cannot be loaded: {problem}"
    return ""


def _native_files(library: Library, package: Path) -> Iterator[Path]:
    return (path for place in library.native if (path := package / place).is_file())


def _version(library: Library) -> str | None:
    """Return the installed version; None for a package that no known distribution brought."""
    for name in library.distributions:
        try:
            return version_of(name)
        except metadata.PackageNotFoundError:
            continue
    return None


@cache  # each start of a run asks, and metadata are a whole README
def version_of(distribution: str) -> str:
    """Return the version of an installed distribution; another one needs a new process anyway."""
    return metadata.version(distribution)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version: of `4.5.0rc1` 4 and 5."""
    parts = version.split(".")
    numbers = [int(part) for part in parts if part.isdigit()]
    return tuple(numbers[: next((i for i, p in enumerate(parts) if not p.isdigit()), len(parts))])
