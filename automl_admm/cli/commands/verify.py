"""`automl-admm verify`: compute the certificate of a run again, or test its model on fresh rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from automl_admm.certify.claims import explain, explain_fresh
from automl_admm.certify.walk.findings import name_outcome
from automl_admm.cli.shared.installed import unprinted
from automl_admm.cli.shared.model_warnings import warn_of_model
from automl_admm.cli.shared.run_options import (
    AUTO,
    FILE_OPTIONS,
    file_options_given,
    with_file_options,
)
from automl_admm.cli.shared.screen import hand_on_json, say
from automl_admm.core.errors import DataError, NotCertifiedError
from automl_admm.data.reading.shares import share_of
from automl_admm.data.reading.streams import is_stream, title_of
from automl_admm.data.row_portions import read_portion, take_rows
from automl_admm.report.audit.statement import check_statement
from automl_admm.runs.finish.model_file import encoding_before, read_rows
from automl_admm.runs.saved.fresh_rows import OnFreshRows, test_on_fresh_rows
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.verification import Verified, verify_run
from automl_admm.runs.saved_request import check_request
from automl_admm.runs.session.model_run import read_run_of_model
from automl_admm.store.file_schemas import OF_RUN
from automl_admm.store.run_folder import RunFolder

ENCODING = "encoding"


@with_file_options
@click.command("verify")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("data", required=False, type=click.Path(path_type=Path))
@click.option("--fresh", is_flag=True, help="DATA has rows that the run never saw; test on them.")
@click.option(
    "--statement",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Hold the files of RUN to a statement.json of `automl-admm export`; DATA may be left out.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    run: Path,
    data: Path | None,
    *,
    fresh: bool,
    statement: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compute the claims of the certificate of the run folder RUN again.

    DATA is the file of the run, or just the rows set aside. With --fresh it has other rows: the
    limits are tested on these, and nothing is compared. With --statement the files must be those
    that it states, byte for byte.
    """
    if data is None and (statement is None or fresh):
        raise click.UsageError("say DATA, the file of the run, or --statement FILE.")
    if statement is not None:
        stated = check_statement(run, statement)
        told = f"{len(stated['files'])} files, the data named and the settings are as stated"
        say(told, err=as_json)
        if data is None and as_json:
            hand_on_json({"files": len(stated["files"])})
    if data is not None:
        _verify(run, data, options, fresh=fresh, as_json=as_json)


def _verify(
    run: Path, data: Path, options: Mapping[str, Any], *, fresh: bool, as_json: bool
) -> None:
    folder = RunFolder(run)
    manifest = folder.read(folder.model_manifest)
    warn_of_model(folder, manifest)
    if fresh:
        with unprinted():
            given = replace(file_options_given(options), must_be_sure=True)
            tested = test_on_fresh_rows(folder, GivenTable.of_file(data, manifest, given))
        _tell_tested(run, tested, as_json=as_json)
    else:
        with unprinted():
            found = _verified(folder, manifest, data, options)
        _tell_verified(run, found, as_json=as_json)


def _print_json(found: Verified | OnFreshRows, *, is_certified: bool) -> None:
    hand_on_json({"certified": is_certified, **asdict(found)})


def _verified(
    folder: RunFolder, manifest: Mapping[str, Any], data: Path, options: Mapping[str, Any]
) -> Verified:
    """Verify a run on its own file, or on a copy of it in another encoding."""
    of_run = _run_of_model(folder, manifest)
    named = encoding_before({**manifest, OF_RUN: of_run})
    is_known = named is None or named.told is not None or options[ENCODING] not in (None, AUTO)
    if named is not None and not is_known and not is_stream(data):
        # The bytes of the file left open if it is in another encoding.
        with suppress(DataError):
            lines = list[str]()
            anew = {**options, ENCODING: named.name}
            found = verify_run(folder, _rows_of_run(manifest, of_run, data, anew, lines.append))
            if not found.differences:
                for line in lines:
                    say(line, err=True)
                return found
    return verify_run(folder, _rows_of_run(manifest, of_run, data, options))


def _run_of_model(folder: RunFolder, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept of the run of a model, with a request that is checked."""
    content = read_run_of_model(folder, manifest)
    check_request(content["request"], folder.model_manifest)
    return content


def _rows_of_run(
    manifest: Mapping[str, Any],
    of_run: Mapping[str, Any],
    data: Path,
    options: Mapping[str, Any],
    tell: Callable[[str], None] | None = None,
) -> GivenTable:
    """Return the rows of the file that the run read and took.

    What the user said of the run's own file holds here, too, unless it is said anew.
    """
    request, target = of_run["request"], of_run["settings"]["target"]
    share, portion = share_of(request.get("share"), data), read_portion(request.get("portion"))
    before = {option.name: request.get(option.name) for option in FILE_OPTIONS}
    anew = {name: value for name, value in options.items() if value not in (None, AUTO)}
    # A copy of the run's file may be in UTF-8, so its encoding holds for other text alone.
    said = file_options_given(before | {ENCODING: None} | anew)
    # A stream cannot be read a second time, so it has to be sure.
    said = replace(said, tell=tell or said.tell, must_be_sure=is_stream(data))
    frame = read_rows({**manifest, OF_RUN: of_run}, data, share, said)
    if portion is not None and portion.rows == len(frame) and target in frame.columns:
        frame = take_rows(frame, portion.places(frame[target])).reset_index(drop=True)
    return GivenTable(frame, title_of(data), manifest=manifest)


def _tell_verified(run: Path, found: Verified, *, as_json: bool) -> None:
    """Print the outcome; raise if anything differs or nothing was certified."""
    is_certified = found.certificate.is_certified
    if as_json:
        _print_json(found, is_certified=is_certified and not found.differences)
    else:
        _say_verified(found)
    if found.differences:
        raise NotCertifiedError(f"the certificate of '{run}' is not what these data say.")
    if not is_certified:
        raise NotCertifiedError(f"the data agree with '{run}', and nothing was certified there.")
    if not as_json:
        outcome = name_outcome([one.is_approximate for one in found.certificate.findings])
        say(f"the data agree: {outcome}")


def _say_verified(found: Verified) -> None:
    """Print the claims only if nothing differs: an edited certificate claims nothing."""
    for difference in found.differences:
        say(f"DIFFERS: {difference}")
    if found.differences:
        return
    say(explain(replace(found.certificate, findings=found.findings)))
    for line in found.groups:
        say(f"groups: {line.removeprefix('warning: ')}")
    for claim in found.unvouched:
        say(f"not computed again: {claim}")
    _tell_timed(found.timed, found.machine)


def _tell_timed(timed: tuple[str, ...], machine: tuple[str, ...]) -> None:
    for line in timed:
        say(f"decides nothing: {line}")
    if timed and machine:
        say(f"This is another machine than that of the run: {'; '.join(machine)}.")
    if timed:
        say("Calls were timed on this machine now; they hang on it and on what else it does.")


def _tell_tested(run: Path, tested: OnFreshRows, *, as_json: bool) -> None:
    _warn_of_known(tested)
    if as_json:
        _print_json(tested, is_certified=tested.is_certified)
    else:
        say(explain_fresh(tested.findings, tested.rows, tested.risk, tested.tested))
        _tell_timed(tested.timed, tested.machine)
    if not tested.is_certified:
        failed = [str(one) for one in tested.findings if not one.is_certified]
        reason = "; ".join(failed) or "no limit of the run is about rows"
        raise NotCertifiedError(f"'{run}' is not certified on these rows: {reason}.")
    if not as_json:
        say(f"on these rows: {name_outcome([one.is_approximate for one in tested.findings])}")


def _warn_of_known(tested: OnFreshRows) -> None:
    told = ""
    if tested.known is None:
        told = "the run does not say which rows it had: make sure that these are others"
    elif tested.known:
        told = f"{tested.known} of the {tested.rows} rows are equal to rows of the run"
    if told:
        say(f"warning: {told}.", err=True)
    if tested.given_twice:
        say(f"warning: {tested.given_twice}", err=True)
