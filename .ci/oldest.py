"""Print every lower bound of pyproject.toml as a pip constraint, such as `scikit-learn==1.8`."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def main() -> None:
    """Read the bounds from pyproject.toml, so that they are written once."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    for requirement in (*project["dependencies"], *project["optional-dependencies"]["dev"]):
        name, bound, version = requirement.partition(">=")
        if not bound:
            raise SystemExit(f"pyproject.toml: {name} has no lower bound; write {name}>=VERSION.")
        # A constraint is on a distribution; extras belong to what asks for it.
        sys.stdout.write(f"{name.partition('[')[0]}=={version}\n")


if __name__ == "__main__":
    main()
