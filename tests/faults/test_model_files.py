"""Model files that somebody else may have written: nothing of them runs before it is trusted."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import zipfile
from pathlib import Path

import pytest

from automl_admm import load
from automl_admm.cli.main import main
from automl_admm.core.errors import VersionWarning
from automl_admm.store.json_content import DIGEST, with_digest


class Evil:
    """Writes a file as soon as it is unpickled."""

    def __reduce__(self):
        return (Path.write_text, (Path("evil"), "done"))


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        lines = (said.err or said.out).strip().splitlines()
        return int(ended.value.code or 0), lines[-1] if lines else ""

    return call


@pytest.fixture
def kept(run, tmp_path):
    """A run folder with a model of a tree, whose `model.skops` a test may overwrite."""
    Path("data.csv").write_text("a,y\n" + "1,no\n2,yes\n3,no\n4,yes\n" * 20)
    search = (
        *("--grammar", "tiny", "--cv=2", "--max-evaluations", "2"),
        *("--executor", "inline", "--quiet"),
    )
    code, line = run("fit", "data.csv", "--target", "y", *search, "--out", "out")
    assert code == 0, line
    assert run("predict", tmp_path / "out", "data.csv")[0] == 0
    return tmp_path / "out"


def put(kept, content, *, is_signed=True):
    """Write a model file; whoever can write to the folder can also write its hash."""
    (kept / "model.skops").write_bytes(content)
    if is_signed:
        sign(kept, sha256=hashlib.sha256(content).hexdigest())


def sign(kept, **changes):
    """Change the manifest and its own digest, as anybody can."""
    manifest = json.loads((kept / "model.json").read_text())
    del manifest[DIGEST]
    (kept / "model.json").write_text(json.dumps(with_digest(manifest | changes)))


def rewritten(content, change):
    """Return an archive with its entries changed: a function of name and content to both."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(target, "w") as new:
        for item in old.namelist():
            new.writestr(*change(item, old.read(item)))
    return target.getvalue()


def system_call(content):
    """Name `posix.system` where the file has a type of scikit-learn."""

    def change(name, inner):
        if name != "schema.json":
            return name, inner
        schema = json.loads(inner)
        schema["__class__"], schema["__module__"] = "system", "posix"
        return name, json.dumps(schema).encode()

    return rewritten(content, change)


def bomb(content):
    target = io.BytesIO(content)
    with zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("zeros.npy", b"\0" * 600_000_000)
    return target.getvalue()


def climbing(content):
    """Give each array a name above the folder."""
    return rewritten(
        content, lambda name, inner: (name if name == "schema.json" else f"../../{name}", inner)
    )


FILES = {
    "a pickle renamed": lambda _: pickle.dumps(Evil()),
    "a type posix.system": system_call,
    "a zip bomb": bomb,
    "names above the folder": climbing,
    "cut off": lambda content: content[: len(content) // 2],
    "empty": lambda _: b"",
    "text": lambda _: b"no model\n",
}


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
@pytest.mark.fault(
    "F57",
    injected="model.skops with a new hash: a pickle, posix.system, a zip bomb, ../ names, cut off",
    expected="exit 7 before anything is loaded",
)
def test_a_foreign_model_is_refused(make, kept, run, seen, request):
    put(kept, make((kept / "model.skops").read_bytes()))
    before = {path.name for path in kept.parent.iterdir()}
    code, line = run("predict", kept, "data.csv")
    assert (code, {path.name for path in kept.parent.iterdir()}) == (7, before)
    assert DIGEST not in line
    seen(f"{request.node.callspec.id}: {line[line.find('model.skops') + 13 :][:100]}")


@pytest.mark.fault(
    "F57", injected="one byte of an array changed", expected="exit 7: not the file of the run"
)
def test_a_changed_array_is_found_by_the_hash(kept, run, seen):
    content = bytearray((kept / "model.skops").read_bytes())
    content[len(content) // 2] ^= 1
    put(kept, bytes(content), is_signed=False)
    code, line = run("predict", kept, "data.csv")
    assert code == 7
    assert "is not the file that the run wrote" in line
    seen(line[line.find("is not") :])


@pytest.mark.fault(
    "F57", injected="a model of scikit-learn 1.0", expected="said, or refused; no silent answer"
)
def test_a_model_of_another_scikit_learn_is_told(kept, run, seen):
    versions = json.loads((kept / "model.json").read_text())["versions"]
    sign(kept, versions=versions | {"scikit-learn": "1.0.2"})
    code, line = run("predict", kept, "data.csv", "-o", "out.csv")
    assert code == 0
    assert "warning: the model was fitted with scikit-learn 1.0.2" in line
    with pytest.warns(VersionWarning, match=r"scikit-learn 1\.0\.2"):
        load(kept)
    seen(f"exit {code}, {line}")
