"""Follow the tutorials in a clone of this checkout, and check what they promise at their ends.

    python .ci/tutorial.py ../shared/data/credit_default.csv

All commands of the pages run as they stand there, with their budgets (about five minutes for the
first page, one for each of the others). They must end with certified models, a report and
predictions. The first page speaks of a table that is not in the repository, and is skipped without
it; the others take theirs from scikit-learn.
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
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# The folder of a run has the time in its name: here it is the latest one.
FOLDER = re.compile(r"automl-runs/credit-\d{8}-\d{6}")
LATEST = '"$(ls -dt automl-runs/*/ | head -n 1)"'
ROWS = 10_000
LEAST_PAGE = 20_000
FEWEST_INSIDE = 35  # of 46, where about 41 are expected: fewer have a chance below 1 in 100
REGRESSION = ("mae_to_150 <= 62", "abs_error_quantile_90 <= 140", "errors_above_100 <= 0.2")
CLASSES = ("min_recall{class} >= 0.75", 'recall{class="9"} >= 0.8', "cost <= 0.3")


def commands(page: str) -> list[str]:
    """Return the lines of a page's shell blocks, with the latest run as the folder."""
    blocks = BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    text = "".join(blocks).replace("\\\n", " ")
    return [FOLDER.sub(lambda _: LATEST, line) for line in text.splitlines() if line.strip()]


def follow(page: str, place: Path) -> None:
    """Run the commands of a page in a clone; a command that fails ends it."""
    script = "\n".join(["set -euo pipefail", *map(shown, commands(page))])
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


def check_credit(place: Path) -> None:
    """Demand a certificate on every limit, a report that tells of it, and all predictions."""
    run = max((place / "automl-runs").iterdir(), key=lambda path: path.stat().st_mtime)
    check_certificate(run, ["fpr <= 0.1"])
    told = json.loads((run / "report.json").read_text())["verdict"]
    demand(told["kind"] == "certified", f"the verdict of the report: {told['sentence']}")
    page = (run / "report.html").read_text(encoding="utf-8")
    demand("CERTIFIED" in page and len(page) > LEAST_PAGE, "the page of the report")
    predicted = [row["prediction"] for row in table(place / "predictions.csv")]
    demand(len(predicted) == ROWS and set(predicted) == {"0", "1"}, "the predictions")


def check_regression(place: Path) -> None:
    """Demand a certificate on every limit, and intervals that hold most of the new rows."""
    here = place / "diabetes"
    check_certificate(here / "certified", REGRESSION)
    rows = table(here / "intervals.csv")
    ends = [[float(row[name]) for name in ("lower", "target", "upper")] for row in rows]
    inside = sum(lower <= target <= upper for lower, target, upper in ends)
    demand(inside >= FEWEST_INSIDE, f"the intervals, which hold {inside} of {len(rows)}")


def check_classes(place: Path) -> None:
    """Demand a certificate on every limit, and predictions that are mostly right."""
    here = place / "digits"
    check_certificate(here / "certified", CLASSES)
    rows = table(here / "predictions.csv")
    right = sum(row["digit"] == row["prediction"] for row in rows)
    demand(right > 0.8 * len(rows), f"the predictions, of which {right} of {len(rows)} are right")


# Two classes, a quantity, several classes: each page, and what it ends with.
WITH_DATA = "tutorial.md"
PAGES: dict[str, Callable[[Path], None]] = {
    WITH_DATA: check_credit,
    "tutorial_regression.md": check_regression,
    "tutorial_classes.md": check_classes,
}


def check_certificate(run: Path, limits: Sequence[str]) -> None:
    """Demand that these limits, and no others, are certified, by bounds within them."""
    certificate = json.loads((run / "certificate.json").read_text())
    found = {one["limit"]: (one["verdict"], one["bound"]) for one in certificate["findings"]}
    demand(sorted(found) == sorted(limits), f"the limits of the certificate: {sorted(found)}")
    for limit, (verdict, bound) in found.items():
        _, sign, number = limit.rsplit(" ", 2)
        is_within = bound >= float(number) if sign == ">=" else bound <= float(number)
        demand(verdict == "certified" and is_within, f"{limit} is {verdict} at {bound}")


def table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def demand(is_so: bool, what: str) -> None:  # noqa: FBT001 - it is a fact
    """End the program unless a promise of a tutorial is kept."""
    if not is_so:
        sys.exit(f"the tutorial does not end as it says: {what}")


def say(line: str) -> None:
    """Write a line before the commands that follow write theirs."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def pages_for(data: Path) -> list[str]:
    """Return the pages to follow: the one with a table that is not here is left out, and named."""
    if data.exists():
        return list(PAGES)
    say(f"-- {WITH_DATA} is skipped: {data} is not here")
    return [page for page in PAGES if page != WITH_DATA]


def main() -> None:
    """Follow the tutorials, the first one with the table that the command line names."""
    data = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "checkout"
        clone = ["git", "clone", "--quiet", str(ROOT), str(place)]
        subprocess.run(clone, check=True)  # noqa: S603 - our own words
        for page in pages_for(data):
            say(f"-- {page}")
            if page == WITH_DATA:
                shutil.copy(data, place / "credit.csv")
            follow(page, place)
            PAGES[page](place)
    say("the tutorials end with certified models, a report and predictions")


if __name__ == "__main__":
    main()
