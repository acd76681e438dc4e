"""The claims of README and of docs/explanation, each with its evidence.

The page of claims is made of them. A claim is quoted as it stands. Its evidence is the page of a
study, with the command, the commit and the control that stand there, or tests. What a page
does not name is said to be missing.
"""

from __future__ import annotations

from dataclasses import dataclass

from printed_tables import markdown_table, wrapped

README, EXPLAINED = "README.md", "docs/explanation"
MISSING = "not named"


@dataclass(frozen=True)
class Claim:
    """A quoted claim: the file that says it, and what it rests on.

    `control` is what the numbers were compared with. `came` is the commit that the numbers came
    with, where the measured one was not written down. `tests` are paths; a claim without a study
    rests on them alone.
    """

    where: str
    words: str
    study: str = ""
    command: str = ""
    commit: str = MISSING
    control: str = MISSING
    tests: tuple[str, ...] = ()
    came: str = ""


PARTS_COMMAND = (
    "python benchmarks/admm_parts.py --data ../shared/data/credit_default.csv --keep runs"
    " --first 110 --seeds 20"
)
PEERS_COMMAND = (
    "python -m benchmarks.peers --budget 60 --seeds 3"
    " --systems ours-boost,FLAML,AutoGluon,AutoGluon-best --core 1 --data SETS"
)
CERTIFIED = "python benchmarks/certified_runs.py --data ../shared/data --runs 80"
PRICE = "python benchmarks/certified_runs.py --data ../shared/data --runs 10"
SIMULATED = "python benchmarks/certificates.py"
ORDERS = (
    "python benchmarks/shape_search.py --tasks order views --seconds 4 --seeds 10"
    " --plot benchmarks/plots"
)
PLANTED = "python benchmarks/planted_order.py --seeds 20 --plot benchmarks/plots"

CLAIMS = (
    Claim(
        README,
        "It splits the search by ADMM",
        "admm_parts",
        PARTS_COMMAND,
        "f4563ef",
        "each part taken out; joint tpe, joint ctpe, joint random",
    ),
    Claim(
        README,
        "The budget holds",
        "reliability",
        "python benchmarks/overrun.py --data ../shared/data --runs 50",
        "1e225bc",
        "none: the bound itself, in every run",
    ),
    Claim(
        README, "every second of it is accounted for", tests=("tests/cli/shared/test_summary.py",)
    ),
    Claim(
        README,
        "A pipeline outside is never passed off as one within",
        "certificates",
        CERTIFIED,
        control="the best pipeline on validation rows, on the same rows that no run had",
        tests=("tests/api/test_estimators.py",),
        came="5b4d605",
    ),
    Claim(
        README,
        "Nothing you fit can take the run down",
        "faults",
        "python benchmarks/faults.py --out benchmarks/measured/faults.json -n 2",
        control="the expected end of each fault, written down before",
        tests=("tests/faults",),
        came="33a6b84",
    ),
    Claim(
        README,
        "nothing that was evaluated is lost",
        "reliability",
        "python benchmarks/kill_and_resume.py --kills 100",
        control="what the run had told of before it was killed",
        came="71f0056",
    ),
    Claim(
        README,
        "What you get is plain scikit-learn",
        "ways",
        "python benchmarks/ways_out.py ../shared/data --results ways_out.jsonl --sets adult"
        ' --start "impute() standard_scaler() logistic_regression()"',
        "01a7490",
        "the predictions of the model as it is in memory",
        ("tests/test_ways_out.py",),
    ),
    Claim(
        README,
        "Good models soon",
        "peers",
        PEERS_COMMAND,
        "10b05c6e",
        "FLAML, AutoGluon and AutoGluon-best on the same splits",
    ),
    Claim(
        README,
        "Tables as people have them",
        "frames",
        "taskset -c 1 python benchmarks/frames.py --rivals rivals --out benchmarks/frames.jsonl"
        " --seconds 10",
        "1ff4e51",
        "AutoGluon, FLAML, skrub and plain scikit-learn on the same files",
    ),
    Claim(
        f"{EXPLAINED}/admm.md",
        "the quadratic term did the work",
        "admm_parts",
        PARTS_COMMAND,
        "f4563ef",
        "ρ = 1e-6, and multipliers held at 0",
    ),
    Claim(
        f"{EXPLAINED}/admm.md",
        "which brings more evaluations within the limit",
        "shadow_price",
        "python benchmarks/shadow_price.py --keep runs --first 100 --seeds 12 --followed 160",
        "78c5743",
        "the same searches with multipliers held at 0; joint ctpe, tpe and random",
    ),
    Claim(
        f"{EXPLAINED}/admm.md",
        "by number of evaluations one good solver for the whole space is as good",
        "admm_against_joint",
        "python benchmarks/artificial_objective.py --studies speedup --seconds 45 --stop 8"
        " --evaluations 512 --first 100 --seeds 10 --processes 1 --keep runs.json",
        "4ab15f6",
        "joint gp, tpe and random; Optuna's and SMAC's",
    ),
    Claim(
        f"{EXPLAINED}/orders.md",
        "within 50 evaluations",
        "shapes",
        PLANTED,
        control="all z-solvers, random among them",
        came="f12754a",
    ),
    Claim(
        f"{EXPLAINED}/orders.md",
        "far better than any order",
        "shapes",
        ORDERS,
        control="every fixed order, with the same processor time",
        came="055ff99",
    ),
    Claim(
        f"{EXPLAINED}/proofs.md",
        "broke the limit in two of three runs",
        "certificates",
        SIMULATED,
        "78c5743",
        "the same candidates with a certificate",
    ),
    Claim(
        f"{EXPLAINED}/proofs.md",
        "in more than half of all cases, and the walk in 5 %",
        "certificates",
        "python benchmarks/certified_paths.py",
        "78c5743",
        "the walk in a fixed order, on the same simulated models",
    ),
    Claim(
        f"{EXPLAINED}/proofs.md",
        "in AUROC is small, at the decision it is larger",
        "certificates",
        PRICE,
        "230c115",
        "the same run without a certificate",
    ),
    Claim(
        f"{EXPLAINED}/portfolio.md",
        "after the portfolio their gain is within the noise",
        "portfolio",
        "python -m benchmarks.portfolio.priors FOLDER --results priors.jsonl",
        control="the same solvers with trust = 0",
        came="2f0f548",
    ),
    Claim(
        f"{EXPLAINED}/scale.md",
        "On 1,000 rows they are 1.6 to 2.0 s",
        "first_evaluation_and_scale",
        "python benchmarks/first_evaluation.py --repeats 2 --workers 1",
        "e584559",
        "the commit before, in turn; the imports alone",
    ),
    Claim(
        f"{EXPLAINED}/scale.md",
        "on the sets that were profiled they are 1 to 5 % of the fits",
        "evaluation_rate",
        "python benchmarks/evaluation_rate.py ../shared/data",
        "52de39a",
        "none: shares of one run",
    ),
    Claim(
        f"{EXPLAINED}/promises.md",
        "prints what was seen",
        "faults",
        "python benchmarks/faults.py --out benchmarks/measured/faults.json -n 2",
        control="the expected end of each fault, written down before",
        tests=("tests/faults",),
        came="33a6b84",
    ),
    Claim(
        f"{EXPLAINED}/ensembles.md",
        "fold models were not told apart from the fit on all rows",
        "fold_models",
        "python benchmarks/fold_models.py --data ../shared/data --evaluations 8 --seeds 3",
        "e20451e",
        "a quicker pipeline on all rows, and the same pipeline fitted on all rows",
    ),
    Claim(
        "docs/how_to/certificates.md",
        "117 of 120 in place of 113",
        "certified_rivals",
        "build/rivals/bin/python benchmarks/certified_rivals.py --data ../shared/data",
        "da05a13d",
        "the first of several looks, by the same code",
    ),
    Claim(
        f"{EXPLAINED}/ensembles.md",
        "was better at 18 settings, worse at 2 and level at 10",
        "certified_rivals",
        "build/rivals/bin/python benchmarks/certified_rivals.py --data ../shared/data",
        "da05a13d",
        "one pipeline of ours with as many evaluations and folds",
    ),
    Claim(
        f"{EXPLAINED}/admm.md",
        "Measured with 2, 4 and 8 evaluations at a time",
        "study_processes",
        "python benchmarks/delayed_results.py --strategies admm --data ../shared/data/hpo",
        control="one evaluation at a time, also so many evaluations earlier; the code before",
        commit="186b9f28",
    ),
    Claim(
        f"{EXPLAINED}/ensembles.md",
        "better on 42 splits and worse on 13",
        "ensembles",
        "python benchmarks/ensembles.py --data ../shared/data --first 200 --seeds 5",
        control="the best pipeline of the same search; eight other rules",
        commit="f929270a",
    ),
    Claim(
        f"{EXPLAINED}/ensembles.md",
        "There the members are selected by log loss",
        "ensembles",
        "python benchmarks/decided_ensembles.py --data ../shared/data --seeds 12",
        control="the best pipeline; members by the metric at the default threshold, and at one"
        " chosen anew",
        commit="eeb9645",
    ),
    Claim(
        f"{EXPLAINED}/ensembles.md",
        "better in the metric, and no less often within the limit",
        "ensembles",
        "python benchmarks/decided_ensembles.py --data ../shared/data --first 24 --seeds 6",
        control="the best pipeline of the same search; two other rules",
        commit="5730b944",
    ),
)


def table() -> str:
    """Return the claims by their files, with the evidence of each."""
    files = dict.fromkeys(claim.where for claim in CLAIMS)
    return "\n\n".join(f"### {where}\n\n{_rows(where)}" for where in files)


def _rows(where: str) -> str:
    rows = [
        [
            f"*{one.words}*",
            _evidence(one),
            f"`{one.command}`" if one.command else "",
            _commit(one),
            one.control if one.study else "none: tests",
        ]
        for one in CLAIMS
        if one.where == where
    ]
    return markdown_table(["claim", "evidence", "command", "commit", "control"], rows)


def _commit(claim: Claim) -> str:
    if not claim.study:
        return "the one that you have"
    return f"came with {claim.came}" if claim.came else claim.commit


def _evidence(claim: Claim) -> str:
    page = [f"[{claim.study}]({claim.study}.md)"] if claim.study else []
    return ", ".join([*page, *(f"`{path}`" for path in claim.tests)])


def short() -> str:
    """Return how many claims have all of their evidence named."""
    studied = [claim for claim in CLAIMS if claim.study and claim.control != MISSING]
    measured = sum(claim.commit != MISSING for claim in studied)
    came = sum(bool(claim.came) for claim in studied)
    return wrapped(
        f"**In short:** of {len(CLAIMS)} claims {len(studied)} rest on a study whose command and",
        f"control are named. {measured} of these name the commit that was measured, and {came} the",
        "one that the numbers came with.",
    )
