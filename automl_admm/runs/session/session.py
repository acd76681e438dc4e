"""One session of a run: its folder and its store, new or continued."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from automl_admm.core.errors import AutomlAdmmError, StoreError
from automl_admm.core.evaluations import FOLDS_LEFT, Evaluation, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Store
from automl_admm.core.ranking import rank
from automl_admm.core.run import RunResult, RunState
from automl_admm.core.space import Candidate
from automl_admm.execution.task_folders import remove_tree, temporary_folder
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.racing import is_behind
from automl_admm.runs.driving.logbook import Past
from automl_admm.runs.kept_predictions import remove_others
from automl_admm.runs.measured_anew import decide_anew
from automl_admm.runs.prepare.baseline import keep_bounds
from automl_admm.runs.prepare.basis import basis_of
from automl_admm.runs.prepare.preparation import Preparation, aim_again
from automl_admm.runs.prepare.reused import Reused
from automl_admm.runs.prepare.starts import read_known
from automl_admm.runs.session.begun_change import begin_change, end_change, settle_change
from automl_admm.runs.session.changes import (
    STARTS,
    Changes,
    ReadAnew,
    best_texts,
    find_changes,
    mixed_parts,
    read_anew,
    refuse,
)
from automl_admm.runs.session.run_json import Stretch, describe_run, write_settings
from automl_admm.runs.session.run_log import check_limits
from automl_admm.store.file_schemas import TRIED_FIRST
from automl_admm.store.files import StoreFiles
from automl_admm.store.memory import MemoryStore
from automl_admm.store.run_folder import SCRATCH, RunFolder, create_folder, is_scratch
from automl_admm.store.sqlite.lock import read_holder
from automl_admm.store.sqlite.log import SqliteStore

RACED = (
    "evaluations that were stopped early beside a pipeline outside the present limits or grammar "
    "do not count any more; the best of them are tried first"
)
REWRITTEN = (
    "evaluations of pipelines that the grammar writes otherwise now, as with arguments in another "
    "order, do not count any more; the best of them are tried first"
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Session:
    """The place of a session; without a folder nothing of it is kept."""

    prepared: Preparation
    store: Store
    scratch: Path
    folder: RunFolder | None = None
    past: Past = field(default_factory=Past)
    earlier: tuple[Stretch, ...] = ()
    run_id: str | None = None
    mixed: tuple[str, ...] = ()

    def write(
        self, prepared: Preparation, state: RunState, result: RunResult | None = None
    ) -> None:
        """Write `run.json`, if there is a folder."""
        if self.folder is not None:
            took = None if state is RunState.RUNNING else time.monotonic() - prepared.config.begun
            took = took if result is None else result.seconds
            now = Stretch(_wall_clock(prepared.config.begun), took)
            stretches = (*self.earlier, now)
            write_settings(
                self.folder,
                prepared,
                stretches,
                state=state,
                run_id=self.run_id,
                mixed=self.mixed,
                result=result,
            )


@contextmanager
def open_session(prepared: Preparation) -> Iterator[Session]:
    """Open the folder and the store of a run, and close them; `run.json` tells a broken session."""
    config, place = prepared.config, prepared.config.place
    if place is None:
        with temporary_folder("automl-admm-") as scratch:
            memory = MemoryStore()
            yield Session(prepared, memory, scratch, past=_begin_with_reused(memory, prepared))
        return
    folder = RunFolder(place) if config.resumed else create_folder(place, config.work_dir)
    settle_change(folder)
    before = folder.read(folder.settings) if config.resumed else None
    earlier = () if before is None else _stretches(before, folder)
    mixed: tuple[str, ...] = ()
    store = SqliteStore(folder.store, create=before is None, write=before is not None)
    try:
        known: Sequence[Evaluation] = () if before is None else store.read()
        if before is not None:
            check_limits(folder, before["settings"], known)
            prepared = _with_known_bounds(prepared, before) if known else prepared
            changes = _changes(prepared, before, folder)
            knows_kept = _may_know_rows_kept(prepared, before)
            prepared = _with_tried_first(prepared, before, changes, knows_kept=knows_kept)
            is_decided_otherwise = changes.bounds and prepared.work.chooses_thresholds
            is_anew = changes.space or changes.void or is_decided_otherwise
            if is_anew or without_rival(known, prepared, changes):
                prepared, known = _carry_over(
                    folder, store, known, prepared, changes, knows_kept=knows_kept
                )
            mixed = mixed_parts(before, prepared, known, is_decided_anew=is_decided_otherwise)
            _remove_leftovers(folder)
        past = _past(known, prepared) if before else _begin_with_reused(store, prepared)
        with temporary_folder(SCRATCH, folder.path) as scratch:
            session = Session(prepared, store, scratch, folder, past, earlier, store.run, mixed)
            session.write(session.prepared, RunState.RUNNING)
            # Only now that `run.json` says how long the earlier sessions took.
            store.count_time(len(earlier) + 1, config.begun)
            end_change(folder)
            # And not before: an undone change needs those of the evaluations brought back.
            remove_others(folder.predictions, known)
            yield from _kept_informed(session)
    finally:
        store.close()


def _remove_leftovers(folder: RunFolder) -> None:
    """Remove the scratch of killed sessions: the holder of a run's lock is alone with it."""
    for left in list(folder.path.iterdir()):
        if is_scratch(left):
            remove_tree(left)


def _kept_informed(session: Session) -> Iterator[Session]:
    try:
        yield session
    except BaseException:
        with suppress(AutomlAdmmError):
            session.write(session.prepared, RunState.STOPPED)
        raise


def _with_known_bounds(prepared: Preparation, before: dict[str, Any]) -> Preparation:
    """Keep the numbers of limits relative to a baseline as they were at the start of the search."""
    kept = keep_bounds(prepared.constraints, before["settings"]["limits"])
    return aim_again(prepared, kept)


def _changes(prepared: Preparation, before: dict[str, Any], folder: RunFolder) -> Changes:
    """Return the differences from the earlier request; raise if they are not allowed."""
    changes = find_changes(before, describe_run(prepared))
    if changes.lines and not prepared.config.changes_allowed:
        raise refuse(changes, prepared.config.work_dir or folder.path)
    return changes


def _begin_with_reused(store: Store, prepared: Preparation) -> Past:
    """Put the evaluations of other runs into a new store: the search begins with them."""
    for evaluation in prepared.reused.evaluations:
        store.append(evaluation)
    return _past(prepared.reused.evaluations, prepared)


def _past(known: Sequence[Evaluation], prepared: Preparation) -> Past:
    """Return the evaluations with an end of their own; the others may be evaluated again.

    A repeated course has no place for evaluations that another run made: they are told at once.
    """
    ended = tuple(evaluation for evaluation in known if evaluation.has_ended)
    is_own = not any(evaluation.is_reused for evaluation in ended)
    return Past(ended, prepared.config.is_repeatable and is_own)


def _may_know_rows_kept(prepared: Preparation, before: Mapping[str, Any]) -> bool:
    """Return True if the sessions before may have searched on rows that are now kept from it.

    Another limit or another table may set aside other rows for a certificate.
    """
    if prepared.work.held_out is None:
        return False
    return bool(before["basis"]["rows"] != basis_of(prepared)["rows"])


def _with_tried_first(
    prepared: Preparation, before: Mapping[str, Any], changes: Changes, *, knows_kept: bool
) -> Preparation:
    """Begin with the pipelines tried first before, unless they may know rows kept from the search.

    They are the best of earlier sessions or of other runs, and stand after the user's own.
    """
    pipelines = prepared.grammar.pipelines
    tried = read_known(() if knows_kept else before.get(TRIED_FIRST, ()), pipelines)
    new = [one for one in tried if one not in prepared.starts]
    earlier = () if changes.void else tuple(before.get("reuse", ()))
    reused = Reused(earlier=earlier, tried_first=tuple(map(pipelines.text, new)))
    return replace(prepared, starts=(*prepared.starts, *new), reused=reused)


def _carry_over(
    folder: RunFolder,
    store: SqliteStore,
    known: Sequence[Evaluation],
    prepared: Preparation,
    changes: Changes,
    *,
    knows_kept: bool,
) -> tuple[Preparation, Sequence[Evaluation]]:
    """Keep the still meaningful part of the store, with thresholds for the limits of now.

    The best of the pipelines that lost their evaluations are the starting points, unless they are
    the best on rows that are now kept from the search: no proof and no score on those could be
    trusted.
    """
    pipelines = prepared.grammar.pipelines
    found = ReadAnew() if changes.void else read_anew(known, pipelines)
    kept, lost = found.kept, known if changes.void else ()
    if kept and changes.bounds and prepared.work.chooses_thresholds:
        decided = decide_anew(prepared, folder, kept)
        kept, lost = decided.kept, decided.lost
    raced = {one.number: one for one in without_rival(kept, prepared, changes)}
    kept = tuple(one for one in kept if one.number not in raced)
    store.begin_anew(kept, copy=begin_change(folder, is_void=changes.void))
    again = (*raced.values(), *found.rewritten)
    if not lost and not again:
        return prepared, kept
    if lost:
        _tell_lost(lost, known, changes)
    for told, gone in ((RACED, raced), (REWRITTEN, found.rewritten)):
        if gone:
            logger.warning("%s: %d of %d", told, len(gone), len(known))
    if knows_kept:
        logger.warning(
            "the search begins without the pipelines of the sessions before: they were chosen on "
            "rows that it may not see now."
        )
        return prepared, kept
    first = nearest(again, prepared.limits)
    return _beginning_with(prepared, (*first, *best_texts(lost, pipelines))), kept


def _tell_lost(lost: Sequence[Evaluation], known: Sequence[Evaluation], changes: Changes) -> None:
    if changes.void:
        told = "what was evaluated before does not count any more (%s): %d of %d evaluations go"
        logger.warning(told, "; ".join(changes.lines), len(lost), len(known))
        return
    told = (
        "thresholds are chosen anew for the changed limits; evaluations without kept "
        "predictions go, and the best of these are tried first: %d of %d"
    )
    logger.warning(told, len(lost), len(known))


def _beginning_with(prepared: Preparation, candidates: Sequence[Candidate]) -> Preparation:
    """Return the preparation with more starting points behind its own."""
    new = [one for one in dict.fromkeys(candidates) if one not in prepared.starts]
    texts = map(prepared.grammar.pipelines.text, new)
    tried_first = (*prepared.reused.tried_first, *texts)
    reused = replace(prepared.reused, tried_first=tried_first)
    return replace(prepared, starts=(*prepared.starts, *new), reused=reused)


def _wall_clock(begun: float) -> str:
    ago = timedelta(seconds=time.monotonic() - begun)
    return (datetime.now(UTC) - ago).isoformat(timespec="milliseconds")


def _stretches(before: dict[str, Any], folder: RunFolder) -> tuple[Stretch, ...]:
    """Return the earlier sessions; a killed one lasted until its last note of the time."""
    sessions = enumerate(before.get("sessions", ()), start=1)
    return tuple(_measured(item, number, folder) for number, item in sessions)


def _measured(item: dict[str, Any], number: int, folder: RunFolder) -> Stretch:
    if item["seconds"] is not None:
        return Stretch(item["begun"], item["seconds"])
    holder = read_holder(StoreFiles(folder.store).lock)
    if holder is not None and holder.session == number:
        return Stretch(item["begun"], holder.seconds)
    # Killed before its first note, or with a lock that is lost: until it last wrote something.
    begun = datetime.fromisoformat(item["begun"]).timestamp()
    return Stretch(item["begun"], max(_last_written(folder) - begun, 0.0))


def _last_written(folder: RunFolder) -> float:
    """Return the time of the last write to a store: its log may be younger than the file itself."""
    files = (folder.store, folder.store.with_name(f"{folder.store.name}-wal"))
    return max((file.stat().st_mtime for file in files if file.exists()), default=0.0)


def seconds_used(folder: RunFolder) -> float:
    """Return the seconds of all sessions of a run together."""
    content = folder.read(folder.settings)
    stretches: Sequence[Stretch] = _stretches(content, folder)
    if not folder.store.exists():
        raise StoreError(
            f"'{folder.path}' holds no store.",
            hint=f"`automl-admm store repair {folder.path}` saves what can be read.",
        )
    return sum(stretch.seconds or 0.0 for stretch in stretches)


def without_rival(
    known: Sequence[Evaluation], prepared: Preparation, changes: Changes
) -> list[Evaluation]:
    """Return the stopped evaluations that no rival within the present limits would have stopped.

    They cannot ship, and are no answer for their pipelines any more. Without a change the log has
    the rival of each; one that was repaired may have none.
    """
    stopped = [one for one in known if one.ok and one.folds_left]
    if not stopped:
        return []
    limits = prepared.limits
    rivals = [one for one in rank(known, limits) if is_feasible(one, limits)]
    if rivals and not (changes.bounds or changes.space):
        return []
    metric = prepared.metric
    return [one for one in stopped if not any(_stops(rival, one, metric) for rival in rivals)]


def _stops(rival: Evaluation, one: Evaluation, metric: Metric) -> bool:
    # The forecast is quick to compare, and leaves few for the test.
    return rival.loss < one.loss and is_behind(_losses(one, metric), _losses(rival, metric))


def _losses(one: Evaluation, metric: Metric) -> list[float]:
    return [metric.loss(score) for score in one.details.get("scores", ())]


def nearest(stopped: Sequence[Evaluation], limits: Sequence[Limit]) -> list[Candidate]:
    """Return the pipelines of stopped evaluations to begin at, those within the limits first.

    What they measured on their first folds is all that is known of them.
    """
    as_whole = [replace(one, details=_without_folds_left(one)) for one in stopped]
    return [one.candidate for one in rank(as_whole, limits)[:STARTS]]


def _without_folds_left(one: Evaluation) -> dict[str, object]:
    return {name: value for name, value in one.details.items() if name != FOLDS_LEFT}
