"""Follow the tutorial in an empty folder, and check what it promises at its end.

    python .ci/tutorial.py ../shared/data/credit_default.csv

All commands of docs/tutorial.md run as they stand there, with their budgets (about five minutes),
in a clone of this checkout. They must end with a certified model, a report and predictions.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# The folder of a run has the time in its name: here it is the latest one.
FOLDER = re.compile(r"automl-runs/credit-\d{8}-\d{6}")
LATEST = '"$(ls -dt automl-runs/*/ | head -n 1)"'
ROWS = 10_000
LEAST_PAGE = 20_000


def commands() -> list[str]:
    """Return the lines of the tutorial's shell blocks, with the latest run as the folder."""
    text = "".join(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    return [FOLDER.sub(lambda _: LATEST, line) for line in text.splitlines() if line.strip()]


def follow(data: Path, place: Path) -> None:
    """Run the commands in a clone; a command that fails ends it."""
    clone = ["git", "clone", "--quiet", str(ROOT), str(place)]
    subprocess.run(clone, check=True)  # noqa: S603 - our own words
    shutil.copy(data, place / "credit.csv")
    script = "\n".join(["set -euo pipefail", *map(shown, commands())])
    # Looks at the same data are counted in the user's state, and a new user has had none.
    environment = {**os.environ, "XDG_STATE_HOME": str(place / "state")}
    subprocess.run(  # noqa: S603 - the words of our page
        ["bash", "-c", script],  # noqa: S607 - the shell of the user
        cwd=place,
        env=environment,
        check=True,
    )


def shown(command: str) -> str:
    """Return a command that is printed before it runs."""
    return f"echo {shlex.quote('$ ' + command)}\n{command}"


def check(place: Path) -> None:
    """Demand a certificate on every limit, a report that tells of it, and all predictions."""
    run = max((place / "automl-runs").iterdir(), key=lambda path: path.stat().st_mtime)
    findings = json.loads((run / "certificate.json").read_text())["findings"]
    verdicts = [(one["limit"], one["verdict"], one["bound"] <= 0.1) for one in findings]
    demand(verdicts == [("fpr <= 0.1", "certified", True)], f"the certificate: {verdicts}")
    told = json.loads((run / "report.json").read_text())["verdict"]
    demand(told["kind"] == "certified", f"the verdict of the report: {told['sentence']}")
    page = (run / "report.html").read_text(encoding="utf-8")
    demand("CERTIFIED" in page and len(page) > LEAST_PAGE, "the page of the report")
    with (place / "predictions.csv").open(newline="") as file:
        predicted = [row["prediction"] for row in csv.DictReader(file)]
    demand(len(predicted) == ROWS and set(predicted) == {"0", "1"}, "the predictions")


def demand(is_so: bool, what: str) -> None:  # noqa: FBT001 - it is a fact
    """End the program unless a promise of the tutorial is kept."""
    if not is_so:
        sys.exit(f"the tutorial does not end as it says: {what}")


def main() -> None:
    """Follow the tutorial with the table that the command line names."""
    data = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "checkout"
        follow(data, place)
        check(place)
    sys.stdout.write("the tutorial ends with a certified model, a report and predictions\n")


if __name__ == "__main__":
    main()
