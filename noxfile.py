"""The checks of the project by name: `nox -s lint types tests-fast`, `nox -s bench -- overhead`.

`nox -l` lists them all. Each session installs what it needs into an environment of its own and
keeps it for the next call. `.ci/run` stays the gate that every change must pass.
"""

from __future__ import annotations

from pathlib import Path

import nox

ROOT = Path(__file__).parent
PLUGINS = sorted(str(path) for path in ROOT.glob("plugins/automl-admm-*"))

nox.options.sessions = ["lint", "types", "tests-fast"]
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_existing_virtualenvs = True


@nox.session
def lint(session: nox.Session) -> None:
    """Check format, lint rules and the direction of imports."""
    session.install("-e", ".[dev]")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("lint-imports")


@nox.session
def types(session: nox.Session) -> None:
    """Check types of the package, the benchmarks, the helpers of tests and the plugins."""
    session.install("-e", ".[dev]", *_editable(PLUGINS))
    session.run("mypy")
    for plugin in PLUGINS:
        session.run(
            "mypy", "--strict", "--config-file", f"{plugin}/pyproject.toml", f"{plugin}/src"
        )


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests; arguments after `--` go to pytest."""
    session.install("-e", ".[dev]", *_editable(PLUGINS))
    session.run("pytest", "-n", "3", *session.posargs)


@nox.session(name="tests-fast")
def tests_fast(session: nox.Session) -> None:
    """Run the tests that need little more than one process: about a minute on two cores."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-q", "-n", "2", "@.ci/fast-tests", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation into site/, and check its links, names and code."""
    session.install("-e", ".[dev,docs]")
    session.run("mkdocs", "build", "--strict", env={"NO_MKDOCS_2_WARNING": "1"})
    pages = sorted(str(path) for path in ROOT.glob("tests/test_*_page.py"))
    pages += ["tests/test_docs.py", "tests/test_docs_in_browser.py", "tests/test_meta.py"]
    session.run("pytest", "-q", *pages)


@nox.session
def tutorial(session: nox.Session) -> None:
    """Follow the tutorials in an empty folder; the first one has the table named after `--`."""
    data = session.posargs or ["../shared/data/credit_default.csv"]
    session.run("python", ".ci/tutorial.py", *data)


@nox.session
def bench(session: nox.Session) -> None:
    """Run the benchmark named after `--`, such as `nox -s bench -- overhead --help`."""
    known = sorted(path.stem for path in ROOT.glob("benchmarks/*.py"))
    if not session.posargs or session.posargs[0] not in known:
        session.error(f"Name a benchmark: nox -s bench -- NAME. There are {', '.join(known)}.")
    session.install("-e", ".[dev]", *_editable(PLUGINS))
    name, *arguments = session.posargs
    session.run("python", f"benchmarks/{name}.py", *arguments)


def _editable(folders: list[str]) -> list[str]:
    return [part for folder in folders for part in ("-e", folder)]
