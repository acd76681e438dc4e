"""The picture of each study, drawn from the numbers of its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import frames_table
import peers_tables
from charts import Chart, bars, dots, lines
from measured_tables import measured
from printed_tables import column, numbers_in, table

SHIPPED = ("AdADMM-F16(gp, bo)", "AdADMM-F16(gp, cmab)")


def joint() -> str:
    """Draw the median best value by processor time."""
    one = table("admm_against_joint/speedup")
    seconds = [numbers_in(head)[0] for head in one["columns"][1:7]]
    curves = {
        str(row[0]): list(zip(seconds, map(float, row[1:7]), strict=True))
        for row in one["rows"]
        if row[0] in SHIPPED or str(row[0]).startswith("joint")
    }
    unit = "median best value of 10 seeds, lower is better; AdADMM-F16(gp, bo) is what ships"
    chart = Chart("ADMM and joint searches", unit, is_log=True, is_log_below=True, below="seconds")
    return lines(chart, curves)


def shadow_price() -> str:
    """Draw the median multiplier by evaluations, as a share of the known price."""
    one = table("shadow_price/course")
    counts = [numbers_in(str(head))[0] for head in one["columns"][2:6]]
    drawn = {"ADMM as shipped": "shipped", "unit: 10 % of the limit": "old unit"}
    curves = {
        f"{drawn[row[0]]}, W = {row[1]}": [
            (count, numbers_in(cell)[0]) for count, cell in zip(counts, row[2:6], strict=True)
        ]
        for row in one["rows"]
        if row[0] in drawn
    }
    unit = "μ / π, medians; 1 is the shadow price"
    return lines(Chart("Multipliers and the shadow price", unit, below="evaluations"), curves)


def z_solvers() -> str:
    """Draw the losses of whole runs, as ratios to random choice."""
    ratios = column("z_solvers/whole-runs", "ratio")
    chart = Chart("z-solvers in whole runs", "loss after 256 evaluations / that of random", ".3f")
    return bars(chart, {"ratio": ratios})


def theta_solvers() -> str:
    """Draw mean ranks."""
    chart = Chart("θ-solvers on six functions", "mean rank of six, lower is better", ".2f")
    return bars(chart, {"mean rank": column("theta_solvers/ranks", "mean")})


def theta_constrained() -> str:
    """Draw when the first feasible point was found, for each feasible part."""
    shares = {"14 %": "14", "2.3 %": "2-3", "0.6 %": "0-6"}
    found = {
        f"{share} feasible": column(f"theta_constrained/feasible-{key}", "first feasible at")
        for share, key in shares.items()
    }
    unit = (
        "evaluations until the first feasible point, medians; no bar: half of the seeds have none"
    )
    return bars(Chart("θ-solvers with one constraint", unit), found)


def ctpe() -> str:
    """Draw the settings that ctpe won, of 36."""
    rows = [row for row in table("ctpe/wins")["rows"] if row[1] == "all"]
    wins = {
        f"after {count}": {str(row[0]): numbers_in(row[2 + at])[0] for row in rows}
        for at, count in enumerate((50, 100, 150, 200))
    }
    chart = Chart("c-TPE on tables", "settings won against each, of 36 (augmented: of 24)")
    return bars(chart, wins)


def rising_bandits() -> str:
    """Draw the evaluations until the value of the reference."""
    found = {name: column(f"rising_bandits/{name}", "median") for name in ("pc4", "vehicle")}
    unit = (
        "evaluations until SMAC's value after 500, medians of three seeds; no bar: not within 500"
    )
    return bars(Chart("Rising bandits", unit), found)


def proposal_cost() -> str:
    """Draw the milliseconds of one proposal."""
    found = {
        f"{count} observations": column("proposal_cost/theta", f"{count} observations", part=1)
        for count in (10, 100, 1000)
    }
    unit = "processor ms for one proposal in 10 dimensions, logarithmic"
    return bars(Chart("What a proposal of a θ-solver costs", unit, is_log=True), found)


def shapes() -> str:
    """Draw how often the planted order was found."""
    found = {
        f"after {count}": {str(row[0]): float(row[at]) for row in table("shapes/planted")["rows"]}
        for at, count in ((1, 50), (2, 100), (3, 200))
    }
    return bars(Chart("A planted order", "per cent of 20 seeds that have the order"), found)


def short_budgets() -> str:
    """Draw how late runs ended on a third of a core."""
    rows = table("reliability/short-budgets")["rows"]
    late = [(float(row[0]), float(row[2])) for row in rows]
    limit = [(float(row[0]), float(row[0])) for row in rows]
    unit = "seconds from start to end of fifty runs on a third of a core"
    chart = Chart("Short budgets", unit, below="budget, seconds")
    return lines(chart, {"run": late, "budget": limit})


def utilisation() -> str:
    """Draw the share of the time in which workers are busy."""
    rows = table("reliability/utilisation")["rows"]
    busy = {f"workers: {row[0]}": numbers_in(row[1])[0] for row in rows}
    return bars(Chart("Utilisation", "per cent of the time in which workers are busy"), {"": busy})


def real_data() -> str:
    """Draw the median losses of two searches."""
    found: dict[str, dict[str, float]] = {}
    for row in table("real_data/minute")["rows"]:
        found.setdefault(str(row[1]), {})[str(row[0])] = float(row[2])
    return bars(Chart("Real data, 60 s", "1 − AUROC, medians of five seeds", ".4f"), found)


def limits() -> str:
    """Draw the seeds that each method won."""
    won = measured("limits")["seeds_won"]
    chart = Chart("Limits on real data", "seeds won, of 100 (a tie is shared)", ".1f")
    return bars(chart, {"seeds won": won})


def certificates() -> str:
    """Draw the shares of models that break a limit on rows that no run had."""
    rows = [row for row in measured("certificates")["rows"] if row["set"] != "all"]
    found = {
        "certified": {
            row["set"]: 100 * row["broken"] / row["certified"] for row in rows if row["certified"]
        },
        "best on validation rows": {
            row["set"]: 100 * row["best_broken"] / row["runs"] for row in rows
        },
    }
    unit = "per cent of models that break a limit on rows that no run had; no bar: none certified"
    return bars(Chart("Certificates", unit, ".1f"), found)


def encoders() -> str:
    """Draw AUROC by encoder and table."""
    one = table("encoders/encoders")
    found = {
        str(head): {str(row[0]): float(row[at]) for row in one["rows"]}
        for at, head in enumerate(one["columns"])
        if at
    }
    return bars(Chart("Encoders", "AUROC on unseen rows, medians of three seeds", ".3f"), found)


def splits() -> str:
    """Draw the regret by the number of fits and rows."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for rows, _, fits, _, regret in table("splits/splits")["rows"]:
        curves.setdefault(f"{rows} rows", []).append((float(fits), float(regret)))
    chart = Chart(
        "Splits of few rows", "regret, AUROC: lower is better", below="fits an evaluation"
    )
    return lines(chart, curves)


def first_evaluation() -> str:
    """Draw where the seconds before the first result went."""
    found = {
        _short(str(row[1])): float(row[0])
        for row in table("first_evaluation_and_scale/where")["rows"]
    }
    unit = "processor seconds, 1,000 rows, before the last change"
    return bars(Chart("What passes before the first result", unit, ".2f"), {"": found})


def _short(words: str) -> str:
    head = words.partition(";")[0].partition(":")[0]
    return head if len(head) < 40 else head[:38].rpartition(" ")[0] + " …"


def boosters() -> str:
    """Draw the seconds of a fit."""
    found: dict[str, dict[str, float]] = {}
    for name, _, _, model, seconds, *_ in table("boosters/boosters")["rows"]:
        found.setdefault(str(name), {})[str(model)] = float(seconds)
    return bars(Chart("Boosters", "processor seconds of one fit on one thread", ".2f"), found)


def ensembles() -> str:
    """Draw how often what a rule ships is better than the best pipeline, and how often worse."""
    rows = [row for row in table("ensembles/rules-all")["rows"] if "of 8" in str(row[0])]
    found = {
        kind: {f"ships {row[0].removesuffix(', of 8')}": float(row[place]) for row in rows}
        for kind, place in (("better", 2), ("worse", 3))
    }
    return bars(Chart("Ensembles", "splits on which what ships is better or worse", "g"), found)


def racing() -> str:
    """Draw the share of the fits that a race makes."""
    rows = table("racing/racing")["rows"]
    found = {
        "stopped": {str(row[0]): numbers_in(row[3])[0] for row in rows},
        "fits made": {str(row[0]): numbers_in(row[5])[0] for row in rows},
    }
    return bars(Chart("Racing", "per cent of evaluations stopped, and of fits made"), found)


def portfolio() -> str:
    """Draw the losses with the portfolio over those without."""
    compared = [one for one in measured("portfolio")["compared"] if one["ratio"] is not None]
    found = {one["after"]: one["ratio"] for one in compared}
    unit = "validation loss with the portfolio / without it, mean of 18 runs"
    return bars(Chart("The portfolio", unit, ".3f"), {"ratio": found})


def evaluation_rate() -> str:
    """Draw the processor seconds of an evaluation, before and now."""
    rows = measured("evaluation_rate")["rows"]
    found = {key: {one["set"]: one[key] for one in rows} for key in ("before", "now")}
    return bars(Chart("Evaluations", "processor seconds of one evaluation", ".2f"), found)


def frames() -> str:
    """Draw how often each system is close to the best, and how often it ends in an error."""
    close, refused = frames_table.counts()
    found = {"best or within 0.01 of it": close, "error or refused": refused}
    total = len(frames_table.compared())
    return bars(
        Chart("Tables and files as people have them", f"of {total} tables and files"), found
    )


def peers() -> str:
    """Draw mean ranks with their intervals."""
    unit = "mean rank with its 95 % interval, lower is better"
    chart = Chart("Beside other systems, 60 s", unit, form=".2f")
    return dots(chart, peers_tables.mean_ranks())


PICTURES: Mapping[str, Callable[[], str]] = {
    "admm_against_joint": joint,
    "boosters": boosters,
    "certificates": certificates,
    "ctpe": ctpe,
    "encoders": encoders,
    "ensembles": ensembles,
    "evaluation_rate": evaluation_rate,
    "first_evaluation": first_evaluation,
    "frames": frames,
    "limits_real_data": limits,
    "peers": peers,
    "portfolio": portfolio,
    "proposal_cost": proposal_cost,
    "racing": racing,
    "real_data": real_data,
    "rising_bandits": rising_bandits,
    "shadow_price": shadow_price,
    "shapes": shapes,
    "short_budgets": short_budgets,
    "splits": splits,
    "theta_constrained": theta_constrained,
    "theta_solvers": theta_solvers,
    "utilisation": utilisation,
    "z_solvers": z_solvers,
}
