"""The studies of the papers' methods, all of them small, or some of them as their pages have them.

    nox -s bench -- papers --list                            what there is, and the full commands
    nox -s bench -- papers --quick                           every table, small, in under 20 minutes
    nox -s bench -- papers theta_solvers z_solvers           these two, as on their pages

Each study is an existing script. Its output goes to the screen and to a file in `--out`; what it
keeps of its runs is there, too, so that a stopped study goes on. A small table shows that a study
runs and what it prints; its numbers stand on no page. A study that fails is named, and the others
are run; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
DATA_MARK, OUT_MARK = "DATA", "OUT"


@dataclass(frozen=True)
class Study:
    """A script, its arguments in small and in full, and the study whose page has its tables.

    In arguments DATA stands for the folder of the data, and OUT for that of what is kept.
    """

    script: str
    page: str
    quick: str
    full: str

    def command(self, data: Path, out: Path, *, quick: bool) -> list[str]:
        """Return the command of the small form or of the full one."""
        words = shlex.split(self.quick if quick else self.full)
        filled = [_filled(word, data, out) for word in words]
        return [sys.executable, str(HERE / f"{self.script}.py"), *filled]

    @property
    def needs_data(self) -> bool:
        """True if the script reads the folder of data."""
        return DATA_MARK in self.quick


def _filled(word: str, data: Path, out: Path) -> str:
    for mark, folder in ((DATA_MARK, data), (OUT_MARK, out)):
        if word == mark or word.startswith(f"{mark}/"):
            return str(folder) + word.removeprefix(mark)
    return word


SMALL_LIMITS = "--data DATA/credit_default.csv --keep OUT/limits"
SAMPLE = "--sample 300 --settings 1 6"
LIMITED = '"ADMM" "ADMM, filtered" "joint ctpe"'
STUDIES = {
    "speedup": Study(
        "artificial_objective",
        "admm_against_joint",
        "--studies speedup --seconds 4 --stop 2 --seeds 2 --processes 1 --keep OUT/speedup.json",
        "--studies speedup --seconds 45 --stop 8 --evaluations 512 --first 100 --seeds 10"
        " --processes 1 --keep OUT/speedup.json",
    ),
    "precision": Study(
        "artificial_objective",
        "admm_precision",
        "--studies precision warm rho --seconds 1 --seeds 2 --processes 1",
        "--studies precision warm --seconds 5 --seeds 20",
    ),
    "limits": Study(
        "limits_experiment",
        "limits_real_data",
        f"{SMALL_LIMITS} {SAMPLE} --methods {LIMITED} --seeds 2 --evaluations 30",
        f'{SMALL_LIMITS} --methods "ADMM" "ADMM 16+16t" "ADMM, filtered" "16+16t, filtered"'
        ' "joint ctpe" "joint optuna"',
    ),
    "parts": Study(
        "admm_parts",
        "admm_parts",
        f"{SMALL_LIMITS} {SAMPLE} --seeds 2 --evaluations 20",
        f"{SMALL_LIMITS} --first 110 --seeds 20",
    ),
    "shadow_price": Study(
        "shadow_price",
        "shadow_price",
        "--keep OUT/shadow --seeds 1 --evaluations 20 --followed 40",
        "--keep OUT/shadow --seeds 20 --followed 160",
    ),
    "z_solvers": Study(
        "z_solvers",
        "z_solvers",
        "--seeds 2 --runs 1 --evaluations 48 --processes 1 --plot OUT/z_solvers.png",
        "--seeds 20 --runs 20",
    ),
    "theta_solvers": Study(
        "theta_solvers",
        "theta_solvers",
        "--seeds 2 --methods gp trust-region tpe random --plot OUT/theta_solvers.png",
        "--first 10 --seeds 10",
    ),
    "theta_constrained": Study(
        "theta_constrained",
        "theta_constrained",
        "--seeds 1 --plot OUT/theta_constrained.png",
        "--first 10 --seeds 10",
    ),
    "ctpe": Study(
        "ctpe_tables",
        "ctpe",
        "--data DATA/hpo --seeds 2 --quantiles 10 50 --methods ctpe tpe --cache OUT/ctpe.jsonl"
        ' --tables "hpolib slice_localization" "nasbench201 cifar10" --workers 1'
        " --plot OUT/ctpe.png",
        "--data DATA/hpo --seeds 50 --methods ctpe tpe --cache OUT/ctpe.jsonl",
    ),
    "rising_bandits": Study(
        "rising_bandits",
        "rising_bandits",
        "--data DATA --cache OUT/rising --sets vehicle --seeds 1 --joint tpe --budget 24 --limit 1"
        " --plot OUT/rising_bandits.png",
        "--data DATA --cache OUT/rising --seeds 3 --joint smac:retrain_after=25 --limit 3",
    ),
    "planted_order": Study(
        "planted_order", "shapes", "--seeds 2", "--seeds 20 --plot benchmarks/plots"
    ),
    "shapes": Study(
        "shape_search",
        "shapes",
        "--tasks order views --seconds 1 --seeds 2",
        "--tasks order views --seconds 4 --seeds 10 --plot benchmarks/plots",
    ),
    "proposal_cost": Study("overhead", "proposal_cost", "--solvers gp tpe ctpe random", ""),
}


@dataclass(frozen=True)
class Ran:
    """A study that ended: its exit code, seconds on the clock and of the processor."""

    name: str
    code: int
    seconds: float
    processor: float


def run(name: str, command: Sequence[str], out: Path) -> Ran:
    """Run a study; show what it prints, and keep it."""
    before, begun = _children(), time.monotonic()
    print(
        f"\n== {name}: docs/benchmarks/{STUDIES[name].page}.md\n$ {shlex.join(command)}", flush=True
    )
    kept = (out / f"{name}.txt").open("w", encoding="utf-8")
    with (
        kept,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=HERE.parent
        ) as process,
    ):
        for line in process.stdout or ():
            print(line, end="", flush=True)
            kept.write(line)
    return Ran(name, process.returncode, time.monotonic() - begun, _children() - before)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def listed() -> Iterable[str]:
    """Yield a line for each study: its name, its page, and the full command."""
    for name, study in STUDIES.items():
        yield f"{name:<18} docs/benchmarks/{study.page}.md"
        yield f"{'':<18} python benchmarks/{study.script}.py {study.full}"


def chosen(names: Sequence[str], data: Path) -> list[str]:
    """Return the studies to run; those whose data are not there are named and left out."""
    asked = list(names or STUDIES)
    missing = [name for name in asked if STUDIES[name].needs_data and not data.is_dir()]
    if missing:
        print(f"left out, there is no folder {data}: {', '.join(missing)}")
    return [name for name in asked if name not in missing]


def main() -> int:
    """Run what is asked for; return 1 if a study failed, or its data are missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(STUDIES))
    parser.add_argument("--quick", action="store_true", help="the small form")
    parser.add_argument("--list", action="store_true", help="the studies, and their full commands")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the data sets")
    parser.add_argument("--out", type=Path, default=Path("papers-runs"), help="what is kept")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(listed()))
        return 0
    unknown = [name for name in arguments.names if name not in STUDIES]
    if unknown:
        parser.error(f"there is no study {', '.join(unknown)}; there are {', '.join(STUDIES)}.")
    if not arguments.names and not arguments.quick:
        parser.error("name studies to run them in full, or say --quick for all in small.")
    data, out = arguments.data.resolve(), arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    names = chosen(arguments.names, data)
    ended = [
        run(name, STUDIES[name].command(data, out, quick=arguments.quick), out) for name in names
    ]
    print("\nstudy               ended   seconds   of the processor   page")
    for one in ended:
        how = "well" if one.code == 0 else f"code {one.code}"
        page = f"docs/benchmarks/{STUDIES[one.name].page}.md"
        print(f"{one.name:<18} {how:>6} {one.seconds:>9.0f} {one.processor:>18.0f}   {page}")
    seconds, processor = sum(one.seconds for one in ended), sum(one.processor for one in ended)
    print(f"{'all':<18} {'':>6} {seconds:>9.0f} {processor:>18.0f}")
    is_whole = len(names) == len(arguments.names or STUDIES)
    return 0 if is_whole and all(one.code == 0 for one in ended) else 1


if __name__ == "__main__":
    sys.exit(main())
