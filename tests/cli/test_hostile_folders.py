"""Run folders that others have changed: one line and a documented exit code, never a trace-back."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import os
import random
import shutil
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from called import Ended, run

from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.runs.saved_request import read_request
from automl_admm.runs.session.changes import find_changes
from automl_admm.runs.session.session import seconds_used
from automl_admm.store.file_schemas import CERTIFICATE, SCHEMAS
from automl_admm.store.json_content import read_content, with_digest
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.rows import COLUMNS, digest
from automl_admm.store.sqlite.schema import SELECT
from automl_admm.store.store_schemas import HOLDER, STORE

GRAMMAR = """\
%import components (impute, decision_tree, gaussian_nb)
start: impute estimator
estimator: gaussian_nb | decision_tree
"""
BAD: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 10**400, -(10**400), 2**64, -0.5, 1e300),
    *(float("inf"), float("nan"), "", "x", "\ud800", "a\0b", "\x1b[2J", "é" * 5000),
    *([], {}, [[]], [None], {"a": 1}, [1, 2, 3], ["x"]),
)
DATA = "DATA"
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "run.json": (
        *(("leaderboard",), ("report", "--json"), ("store", "export"), ("verify", DATA)),
        *(("explain", "1"), ("compare", "run")),
    ),
    "model.json": (("predict", DATA), ("verify", DATA), ("report", "--json"), ("compare", "run")),
    "certificate.json": (("leaderboard",), ("verify", DATA), ("report", "--json")),
    "certification-rows.json": (("verify", DATA),),
    "store.json": (("leaderboard",), ("store", "check"), ("store", "export")),
    "store.lock": (("leaderboard",), ("store", "check")),
}
GROUPS = ("store",)
LONGEST_MESSAGE = 600
MOST_CALLS = 50  # every place of a file is changed where its schema is tested
REFUSED = 7
DOCUMENTED = {0, 2, 3, 4, 5, 6, 7, 8}
Seen = Callable[[str], None]

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and the run of a certified model on it."""
    place = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.uniform(18, 90, 300), "city": rng.choice(["a", "b"], 300)})
    frame["buys"] = np.where(frame["age"] + 10 * rng.normal(size=300) > 50, "yes", "no")
    frame.to_csv(place / "data.csv", index=False)
    (place / "g.lark").write_text(GRAMMAR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        ended = run(
            *("fit", place / "data.csv", "--target", "buys", "--grammar", place / "g.lark", "-q"),
            *("--executor", "inline", "--cv=2", "--max-evaluations", 2, "--out", place / "run"),
            *("--constraint", "fpr <= 0.9", "--certify", 0.9),
        )
    assert ended.code == 0, ended.err
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "run", tmp_path / "run"))


def call(command: tuple[str, ...], folder: Path, made: Path) -> Ended:
    """Run a command on a run folder, which stands behind its name."""
    words = [str(made / "data.csv") if word == DATA else word for word in command]
    place = 2 if command[0] in GROUPS else 1
    return run(*words[:place], folder, *words[place:])


def paths(content: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield here
    keys = list(content) if isinstance(content, dict) else []
    keys = list(range(min(len(content), 2))) if isinstance(content, list) else keys
    for key in keys:
        yield from paths(content[key], (*here, key))


def changed(content: Any, path: tuple[Any, ...], *, value: Any = None, remove: bool = False) -> Any:
    if not path:
        return value
    whole = copy.deepcopy(content)
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    if remove:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return whole


def mutations(content: Any, count: int, seed: int = 0) -> list[Any]:
    """So many contents that differ from this one in one place."""
    found = [(path, value) for path in paths(content) for value in BAD]
    removed = [changed(content, path, remove=True) for path in paths(content) if path]
    some = random.Random(seed).sample(found, min(count, len(found)))  # noqa: S311
    return removed + [changed(content, path, value=value) for path, value in some]


@pytest.mark.fault(
    "F91",
    injected="some hundreds of changes to each JSON file of a run folder",
    expected="one line, a documented exit code, no trace-back",
)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_somebody_changed_is_one_line(
    name: str, folder: Path, made: Path, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    content = json.loads((folder / name).read_text())
    rng, codes = random.Random(1), Counter[int]()  # noqa: S311
    others = mutations(content, 30)
    for other in rng.sample(others, min(MOST_CALLS, len(others))):
        if name == "model.json" and isinstance(other, dict):  # who changes it changes its digest
            other = with_digest(other)  # noqa: PLW2901
        (folder / name).write_text(json.dumps(other))
        ended = call(rng.choice(COMMANDS[name]), folder, made)
        assert ended.code in DOCUMENTED, (other, ended)
        assert "Traceback" not in ended.err, (other, ended)
        if ended.code == REFUSED:
            assert ended.err.count("\n") == 1, ended.err
        codes[ended.code] += 1
    # A lock that makes no sense names nobody; all else must be what was written.
    assert name == "store.lock" or codes[REFUSED] > 0, codes
    seen(", ".join(f"exit {code}: {count}" for code, count in sorted(codes.items())))


@pytest.mark.parametrize("option", ["separator", "decimal", "encoding"])
def test_verify_checks_what_the_run_says_of_its_file(
    option: str, folder: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    manifest = json.loads((folder / "model.json").read_text())
    manifest["run"]["request"][option] = 0.5
    (folder / "model.json").write_text(json.dumps(with_digest(manifest)))
    ended = call(("verify", DATA), folder, made)
    assert ended.code == REFUSED, ended
    assert f"model.json' is damaged: 'request.{option}" in ended.err
    assert ended.err.count("\n") == 1


def test_what_a_resumed_run_reads_is_refused_or_of_the_right_kind(folder: Path) -> None:
    """What `resume` does with `run.json` before it reads the data; from there on it is a `fit`."""
    content = json.loads((folder / "run.json").read_text())
    for other in mutations(content, 400):
        (folder / "run.json").write_text(json.dumps(other))
        with suppress(StoreError, ConfigurationError):
            read_request(RunFolder(folder), {})
            assert seconds_used(RunFolder(folder)) >= 0.0
            assert find_changes(other, content).lines is not None


@pytest.mark.parametrize("name", ["run.json", "model.json", "certificate.json", "store.json"])
def test_each_value_of_another_kind_is_named_with_its_key(name: str, made: Path) -> None:
    schema = {**SCHEMAS, "certificate.json": CERTIFICATE, "store.json": STORE}[name]
    content = json.loads((made / "run" / name).read_text())
    changed_file = made / f"changed-{name}"
    for other in mutations(content, 400):
        changed_file.write_text(json.dumps(other))
        told = ""
        try:
            read_content(changed_file, schema)
        except StoreError as problem:
            told = problem.message
        assert not told or str(changed_file) in told
        assert told.count("\n") == 0
        assert len(told) < LONGEST_MESSAGE
    changed_file.write_text(json.dumps(content))
    assert read_content(changed_file, schema) == content


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ('{"run": "a", "version": 2, "rows": ' + "9" * 5000 + "}", "cannot be read"),
        ("[" * 50_000, "nested too deeply"),
        ("[]", "it is [], and an object was expected"),
        ('{"run": "a", "version": 2}', "'rows' is missing"),
        ('{"run": "a", "version": 2, "rows": true}', "'rows' is True, and a whole number from 0"),
        ('{"run": "\\ud800", "version": 2, "rows": 1}', "whole characters"),
    ],
)
def test_what_is_wrong_is_said_in_words(written: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(written)
    with pytest.raises(StoreError) as told:
        read_content(tmp_path / "a.json", STORE)
    assert said in told.value.message


def test_a_folder_without_what_it_may_lack_is_read(tmp_path: Path, made: Path) -> None:
    content = json.loads((made / "run" / "run.json").read_text())
    for key in ("sessions", "result", "versions", "plugins"):
        del content[key]
    del content["request"]["group_thresholds"], content["settings"]["group_thresholds"]
    (tmp_path / "run.json").write_text(json.dumps(content))
    assert read_content(tmp_path / "run.json", SCHEMAS["run.json"]) == content
    holder = {"host": "a", "pid": 1, "start": 0.5}
    (tmp_path / "lock").write_text(json.dumps(holder))
    assert read_content(tmp_path / "lock", HOLDER) == holder


def put(column: str, value: object) -> Callable[[sqlite3.Connection], None]:
    """Forge a value, and the hash of its row with it."""

    def craft(database: sqlite3.Connection) -> None:
        row = list(database.execute(f"{SELECT} ORDER BY number LIMIT 1").fetchone()[:-1])
        number, row[COLUMNS.index(column)] = row[0], value
        statement = f"UPDATE evaluations SET {column} = ?, sha256 = ? WHERE number = ?"  # noqa: S608
        database.execute(statement, (value, digest(row), number))

    return craft


def do(*statements: str) -> Callable[[sqlite3.Connection], None]:
    def craft(database: sqlite3.Connection) -> None:
        for statement in statements:
            database.execute(statement)

    return craft


STORES = {
    "no evaluations": do("DROP TABLE evaluations"),
    "no running": do("DROP TABLE running"),
    "no run": do("DROP TABLE run"),
    "no row in run": do("DELETE FROM run"),
    **{f"version {n}": do(f"PRAGMA user_version={n}") for n in (0, 1, 99, -5)},
    "another program": do("PRAGMA application_id=5"),
    "a view": do("CREATE VIEW v AS SELECT 1"),
    "a trigger": do(
        "CREATE TRIGGER t AFTER INSERT ON evaluations BEGIN DELETE FROM evaluations; END"
    ),
    "an index": do("CREATE INDEX i ON evaluations(text)"),
    "not strict": do("DROP TABLE run", "CREATE TABLE run (id)"),
    "fewer": do("DELETE FROM evaluations"),
    "another hash": do("UPDATE evaluations SET sha256 = x'00'"),
    "a huge hash": do("UPDATE evaluations SET sha256 = zeroblob(20000000)"),
    "a negative number": put("number", -7),
    "selection: a number": put("selection", "5"),
    "selection: no text": put("selection", '{"a": 5}'),
    "selection: an object": put("selection", '{"a": {"b": 1}}'),
    "selection: no JSON": put("selection", "nope"),
    "selection: deep": put("selection", "[" * 100_000),
    "theta: cut off": put("theta", "[1,"),
    "theta: texts": put("theta", '["a"]'),
    "theta: a number": put("theta", "5"),
    "theta: two lists": put("theta", "[1], [2"),
    "status": put("status", "won"),
    "no loss": put("loss", None),
    "constraints: an object": put("constraints", "{}"),
    "constraints: texts": put("constraints", '["x"]'),
    "constraints: too few": put("constraints", "[]"),
    "constraints: too many": put("constraints", "[1, 2, 3, 4]"),
    "seconds": put("seconds", -1.0),
    "fidelity": put("fidelity", 1e300),
    "details: a list": put("details", "[]"),
    "details: cut off": put("details", "{"),
    "details: thresholds": put("details", '{"group_thresholds": 5}'),
}


@pytest.mark.fault(
    "F92", injected="a store with other tables, types, values", expected="exit 7, one line"
)
@pytest.mark.parametrize("kind", STORES)
def test_a_store_that_somebody_made_is_refused(
    kind: str, folder: Path, made: Path, seen: Seen
) -> None:
    with closing(sqlite3.connect(folder / "store.sqlite")) as database, database:
        STORES[kind](database)
    (folder / "store.bak").unlink()
    commands: tuple[tuple[str, ...], ...] = (("leaderboard",),)
    if kind.startswith("constraints"):  # what a resumed run reads is what the other ones read
        commands += (("resume", "--max-evaluations", "2", "-q"),)
    for command in commands:
        ended = call(command, folder, made)
        assert ended.code == 7, (kind, ended)
        assert ended.err.count("\n") == 1, ended.err
    for command in (("store", "check"), ("store", "repair")):
        assert call(command, folder, made).code in (0, 7)
    seen(f"exit 7: {ended.err.strip()[-50:]}")


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def bomb(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
        with archive.open("zeros", "w") as file:
            for _ in range(600):
                file.write(bytes(1_000_000))
    return buffer.getvalue()


def described(model: bytes, /, **other: object) -> bytes:
    parts = members(model)
    parts["schema.json"] = json.dumps(json.loads(parts["schema.json"]) | other).encode()
    return packed(parts)


def arrays(content: bytes, array: bytes) -> bytes:
    parts = members(content)
    return packed({name: array if name.endswith("npy") else parts[name] for name in parts})


def npy(kind: str, shape: str, data: bytes = b"") -> bytes:
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00v\x00" + head.ljust(117) + b"\n" + data


MODELS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "any bytes": lambda _: b"PK\3\4" + bytes(50),
    "half of it": lambda content: content[: len(content) // 2],
    "an empty archive": lambda _: packed({}),
    "no arrays": lambda content: packed({"schema.json": members(content)["schema.json"]}),
    "schema: a list": lambda content: packed({**members(content), "schema.json": b"[]"}),
    "schema: no text": lambda content: packed({**members(content), "schema.json": b"\xff"}),
    "schema: deep": lambda content: packed(
        {**members(content), "schema.json": b'{"a":' * 20_000 + b"1" + b"}" * 20_000}
    ),
    "a bomb": lambda content: bomb(members(content)),
    "a type of the system": lambda content: described(
        content, __module__="posix", __class__="system"
    ),
    "an unknown class": lambda content: described(content, __class__="Nope"),
    "an unknown loader": lambda content: described(content, __loader__="Nope"),
    "content: a number": lambda content: described(content, content=5),
    "another protocol": lambda content: described(content, protocol=10**400),
    "a text": lambda content: described(
        content, __loader__="JsonNode", __class__="str", __module__="builtins", content='"a"'
    ),
    "an array larger than memory": lambda content: arrays(content, npy("<f8", "(10**15,)")),
    "an array of petabytes": lambda content: arrays(content, npy("<f8", f"({10**15},)")),
    "a pickled array": lambda content: arrays(
        content, npy("|O", "(1,)", b"cposix\nsystem\n(S'touch pwned'\ntR.")
    ),
}


@pytest.mark.fault(
    "F93", injected="a model.skops that somebody made, with its hash", expected="exit 7, one line"
)
@pytest.mark.parametrize("kind", MODELS)
def test_a_model_that_somebody_made_is_refused(
    kind: str, folder: Path, made: Path, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    content = MODELS[kind]((folder / "model.skops").read_bytes())
    (folder / "model.skops").write_bytes(content)
    manifest = json.loads((folder / "model.json").read_text())
    forged = manifest | {"sha256": hashlib.sha256(content).hexdigest()}
    (folder / "model.json").write_text(json.dumps(with_digest(forged)))
    for command in (("predict", DATA), ("verify", DATA)):
        ended = call(command, folder, made)
        assert ended.code == 7, ended
        assert ended.err.count("\n") == 1, ended.err
    assert not (folder / "pwned").exists()
    seen(f"exit 7: {ended.err.strip()[-50:]}")


@pytest.mark.fault("F93", injected="model.skops is no plain file", expected="exit 7, one line")
@pytest.mark.parametrize("kind", ["a folder", "a pipe", "a loop", "a device", "gone"])
def test_a_model_that_is_no_file_is_refused(
    kind: str, folder: Path, made: Path, seen: Seen
) -> None:
    path = folder / "model.skops"
    path.unlink()
    make: dict[str, Callable[[], object]] = {
        "a folder": path.mkdir,
        "a pipe": lambda: os.mkfifo(path),
        "a loop": lambda: path.symlink_to(path.name),
        "a device": lambda: path.symlink_to("/dev/zero"),
        "gone": lambda: None,
    }
    make[kind]()
    ended = call(("predict", DATA), folder, made)
    assert ended.code == 7, ended
    assert ended.err.count("\n") == 1, ended.err
    seen(f"exit 7: {ended.err.strip()[-50:]}")


def test_a_model_whose_columns_were_changed_takes_no_rows(folder: Path, made: Path) -> None:
    manifest = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps(with_digest(manifest | {"columns": []})))
    for command in (("predict", DATA), ("verify", DATA)):
        ended = call(command, folder, made)
        assert ended.code in (3, 7), ended
        assert ended.err.count("\n") == 1, ended.err
