"""Streams: stdin and addresses, with an end or without one."""

from __future__ import annotations

import gzip
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import run_python, start_python

from automl_admm.core.errors import DataError
from automl_admm.data.reading import streams
from automl_admm.data.reading.shares import Share, share_of
from automl_admm.data.reading.streams import source_of, table_name, title_of
from automl_admm.data.reading.tables import read_table
from automl_admm.data.reading.timed_reading import read_in_time

TEXT = "n;part\n" + "".join(f"{i};{i},5\n" for i in range(1000))
READ_ALL = """
from automl_admm.data.reading.tables import read_table
frame = read_table("-")
print(frame["part"].sum())
"""
READ_SOME = """
from pathlib import Path
from automl_admm.data.reading.timed_reading import read_in_time
frame, share = read_in_time(Path("-"), 2.0)
assert (frame["part"] == frame["n"] + 0.5).all()
print(len(frame), share.size, share.tell())
"""
NOTHING = """
from pathlib import Path
from automl_admm.data.reading.timed_reading import read_in_time
read_in_time(Path("-"), 0.5)
"""


# Named: the bytes hold the time, and every process that collects tests has to give them one name.
@pytest.mark.parametrize(
    "content", [TEXT.encode(), gzip.compress(TEXT.encode())], ids=["plain", "packed"]
)
def test_stdin_is_read_packed_or_not(content: bytes) -> None:
    ended = run_python("-c", READ_ALL, input=content, text=False)
    assert ended.returncode == 0, ended.stderr
    assert float(ended.stdout) == sum(i + 0.5 for i in range(1000))


def test_mistakes_in_stdin_are_told_of_stdin() -> None:
    ended = run_python("-c", READ_ALL, input="a;b\n1;2\n1\n")
    assert "DataError: stdin, line 3: 1 field, but the header has 2" in ended.stderr
    ended = run_python("-c", READ_ALL, input="")
    assert "stdin is empty" in ended.stderr


def endless(packed: bool) -> Iterator[bytes]:
    """Return the blocks of a table without end, about ten megabytes a second at most."""
    import zlib

    packer, begun = zlib.compressobj(1, zlib.DEFLATED, 31), 0
    yield packer.compress(b"n;part\n") if packed else b"n;part\n"
    while True:
        block = "".join(f"{i};{i},5\n" for i in range(begun, begun + 50_000)).encode()
        yield packer.compress(block) if packed else block
        begun += 50_000


@pytest.mark.parametrize("packed", [False, True])
def test_a_stream_without_end_is_read_until_the_time_is_up(packed: bool) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with start_python("-c", READ_SOME, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            for block in endless(packed):
                process.stdin.write(block)
                process.stdin.flush()
        except BrokenPipeError:
            pass
        rows, size, *told = process.stdout.read().decode().split(" ", 2)
    assert process.returncode == 0
    assert int(rows) > 1000
    assert size == "0", "its end was never seen"
    assert "were read: the budget is too short for more" in told[0]


def test_a_stream_that_gives_nothing_is_told() -> None:
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start_python("-c", NOTHING, **pipes) as process:
        assert process.stderr is not None
        said = process.stderr.read()
    assert b"stdin gave nothing in the time for reading" in said


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Serve the folder of the test on the loopback address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *given: object) -> None:
            super().__init__(*given, directory=str(tmp_path))  # type: ignore[arg-type]

        def log_message(self, *said: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


@pytest.mark.filterwarnings("ignore")  # of aiohttp's, at the end of a thread
def test_an_address_is_read(server: str, tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    source = Path(f"{server}/t.csv.gz")
    assert read_table(source)["part"].sum() == sum(i + 0.5 for i in range(1000))
    frame, share = read_in_time(source, 60.0)
    assert share is None
    assert len(frame) == 1000
    with pytest.raises(DataError, match=r"/nowhere\.csv cannot be read"):
        read_table(f"{server}/nowhere.csv")


def test_any_file_system_of_fsspec_is_read() -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://folder/t.csv", "wb") as file:
        file.write(TEXT.encode())
    assert len(read_table("memory://folder/t.csv")) == 1000


def test_what_an_address_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"'nonsense' in nonsense://a/b\.csv is no known kind"):
        read_table("nonsense://a/b.csv")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(DataError, match=r"is an address.*pip install 'automl-admm\[remote\]'"):
        read_table("https://example.org/a.csv")


def test_keys_of_an_address_are_not_told() -> None:
    source = Path("https://me:secret@example.org/d/sales.csv.gz?sig=secret#secret")
    assert title_of(source) == "https://example.org/d/sales.csv.gz"
    assert source_of(source) == "https://example.org/d/sales.csv.gz"
    assert table_name(source) == "sales"


def test_keys_are_not_told_by_a_failing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: Path) -> None:
        raise OSError(f"{streams.address_of(source)}: 403")

    monkeypatch.setattr(streams, "_opened", fail)
    with pytest.raises(DataError, match="cannot be read") as caught:
        read_table("https://me:secret@example.org/a.csv?sig=secret")
    assert "secret" not in str(caught.value)


def test_a_table_has_the_name_of_its_source() -> None:
    assert table_name(Path("folder/sales.csv")) == "sales"
    assert table_name(Path("-")) == title_of(Path("-")) == "stdin"
    assert source_of(Path("-")) == "-"


def test_a_share_of_a_stream_is_that_of_any_stream(tmp_path: Path) -> None:
    share = Share(0, ((0, 7), (7, 90)), None, 100)
    assert share_of(str(share), Path("-")) == share
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert share_of(str(share), tmp_path / "t.csv") == share
    assert share_of("12:0-7", Path("-")) == Share(12, ((0, 7),))
