"""A new package with a plugin: its files from templates, in a folder that was not there before."""

from __future__ import annotations

import keyword
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from string import Template
from types import MappingProxyType

from automl_admm import __version__
from automl_admm.core.errors import ConfigurationError
from automl_admm.plugins.api_version import API_VERSION
from automl_admm.plugins.loading import RECORDS, Plugins
from automl_admm.plugins.named_record import NAME
from automl_admm.plugins.taken_names import taken_by
from automl_admm.runs.prepare.suggestions import with_article

TEMPLATES = Path(__file__).parents[1] / "templates"
# With a longer one lines of the templates would be too long.
LONGEST_NAME = 30
RECORD_TEST = "record_test"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of plugin: its hook, its words, and the record and the contract of its test.

    `in_grammars` is True for a name that grammars and limits read: hyphens become underscores.
    """

    hook: str
    words: str
    template: str
    test: str = RECORD_TEST
    record: str = ""
    contract: str = ""
    in_grammars: bool = False


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "solver": Kind("theta_solvers", "θ-solver", "solver", "solver_test"),
        "z-solver": Kind("z_solvers", "z-solver", "z_solver", "z_solver_test"),
        "strategy": Kind("strategies", "strategy", "strategy", "strategy_test"),
        "component": Kind(
            "components",
            "component",
            "component",
            record="ComponentPlugin",
            contract="ComponentContract",
            in_grammars=True,
        ),
        "constraint": Kind(
            "constraints",
            "constraint",
            "constraint",
            record="ConstraintPlugin",
            contract="ConstraintContract",
            in_grammars=True,
        ),
        "metric": Kind(
            "metrics",
            "metric",
            "metric",
            record="MetricPlugin",
            contract="MetricContract",
            in_grammars=True,
        ),
        "executor": Kind("executors", "executor", "executor", "executor_test"),
        "grammar": Kind(
            "grammars", "grammar", "grammar", record="GrammarPlugin", contract="GrammarContract"
        ),
        "observer": Kind("observers", "observer", "observer", "observer_test"),
        "exporter": Kind(
            "exporters",
            "exporter",
            "exporter",
            record="ExporterPlugin",
            contract="ExporterContract",
        ),
        "command": Kind(
            "commands", "command", "command", record="CommandPlugin", contract="CommandContract"
        ),
    }
)


def check_name(name: str, kind: Kind, plugins: Plugins) -> None:
    """Raise for a name that no package, no module or no record of the kind can have."""
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        allowed = "lower case letters, digits, '-' and '_', beginning with a letter"
        raise ConfigurationError(
            f"'{name}' is no name of a plugin.", hint=f"Use up to {LONGEST_NAME} {allowed}."
        )
    package = _package(name)
    if keyword.iskeyword(package) or package in sys.stdlib_module_names or package == "automl_admm":
        raise ConfigurationError(
            f"'{name}' cannot be the name of a package: Python has a '{package}'.",
            hint=f"Choose another, such as my-{name}.",
        )
    hint = f"Choose another name, such as my-{name}."
    # `plugins check NAME` finds a record of any kind by its name.
    hooks = [kind.hook, *(hook for hook in RECORDS if hook != kind.hook)]
    for registry, _ in chain.from_iterable(map(plugins.registries, hooks)):
        for record in (name, package):
            if record in registry:
                raise ConfigurationError(f"{registry.title(record)} exists already.", hint=hint)
    owner = taken_by(kind.hook, package if kind.in_grammars else name, plugins.constraints)
    if owner is not None:
        raise ConfigurationError(f"'{name}' is a name of {owner}.", hint=hint)
    if _is_installed(name) or _is_installed(package):
        raise ConfigurationError(f"a package '{name}' is installed here.", hint=hint)


def _is_installed(name: str) -> bool:
    """Return True for a distribution, or a module other than a folder without code."""
    spec = find_spec(name) if name.isidentifier() else None
    if spec is not None and spec.origin is not None:
        return True
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def write_package(name: str, kind: Kind, folder: Path) -> None:
    """Write the files of a package into a folder that is not there yet."""
    try:
        folder.mkdir(parents=True)
        for place, text in files_of(name, kind).items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except FileExistsError:
        message = f"'{folder}' exists already."
        raise ConfigurationError(message, hint="Choose another folder by --out.") from None
    except OSError as problem:
        raise ConfigurationError(f"'{folder}' cannot be written: {problem.strerror}.") from None


def files_of(name: str, kind: Kind) -> dict[str, str]:
    """Return the text of each file by its place in the package."""
    package = _package(name)
    words = {
        "name": name,
        "package": package,
        "record": package if kind.in_grammars else name,
        "request": package if kind.in_grammars else name,
        "Class": "".join(part.capitalize() for part in package.split("_")),
        "Record": kind.record,
        "Contract": kind.contract,
        "hook": kind.hook,
        "kind": kind.words,
        "article": with_article(kind.words).partition(" ")[0].capitalize(),
        "api": API_VERSION,
        "version": ".".join(__version__.split(".")[:2]),
    }
    templates = {
        "pyproject.toml": "pyproject",
        "README.md": "readme",
        ".github/workflows/tests.yml": "ci",
        f"src/{package}/__init__.py": kind.template,
        "tests/test_contract.py": kind.test,
    }
    if kind.hook == "grammars":
        templates[f"src/{package}/pipelines.lark"] = "grammar_lark"
    made = {place: _filled(template, words) for place, template in templates.items()}
    return made | {f"src/{package}/py.typed": ""}


def _filled(template: str, words: Mapping[str, str]) -> str:
    text = (TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(words)


def _package(name: str) -> str:
    return name.replace("-", "_")
