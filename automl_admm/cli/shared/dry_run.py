"""The end of `fit --dry-run`: the facts before a search, and what could be proven at best."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict

from automl_admm.cli.shared.run_command import Loaded, facts_of
from automl_admm.cli.shared.screen import hand_on_json, say
from automl_admm.cli.shared.text_table import print_table
from automl_admm.runs.prepare.assembly import build_observers
from automl_admm.runs.prepare.best_proofs import BestProof, best_proofs
from automl_admm.runs.prepare.preparation import Preparation


def try_observers(prepared: Preparation) -> None:
    """Make the observers as a search would: one may refuse, as where its file cannot be written."""
    with redirect_stdout(sys.stderr):
        build_observers(prepared.config, prepared.plugins)


def print_dry_run(prepared: Preparation, loaded: Loaded, *, as_json: bool) -> None:
    """Print the facts and the best proofs; nothing was searched, and no look was taken."""
    facts, proofs = facts_of(prepared, loaded), best_proofs(prepared)
    if as_json:
        hand_on_json({"facts": facts, "limits": [asdict(one) for one in proofs]})
        return
    say("\n".join(facts))
    if proofs:
        _print_proofs(proofs)
    say("dry run: all of it is fit for a search; nothing was searched or written")


def _print_proofs(proofs: Sequence[BestProof]) -> None:
    # A search does not wait for the report's modules.
    from automl_admm.report.document.numbers import NONE, plain

    say("\nProven on the rows set aside at best, by a model without an error:")
    rows = [
        (one.limit, plain(one.best), plain(one.aim), _word(one), one.reason or NONE)
        for one in proofs
    ]
    print_table(("limit", "best bound", "search aims at", "provable", "why"), rows, right=(1, 2))


def _word(one: BestProof) -> str:
    from automl_admm.report.document.numbers import NONE

    if one.is_provable is None:
        return NONE
    return f"{'yes' if one.is_provable else 'NO'}{' (approximate)' if one.is_approximate else ''}"
