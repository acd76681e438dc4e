"""A real browser without a window, led over its debugging pipe: no driver, no port, no network."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import selectors
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A machine of a hundred processes starts a browser slowly.
PATIENCE = 180.0
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-extensions", "--disable-dev-shm-usage"),
    *("--remote-debugging-pipe", "--force-color-profile=srgb"),
)
# The browser reads from 3 and writes to 4.
LAUNCH = """import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])"""


def browser_here() -> str | None:
    """Return the path of a browser on this machine; `BROWSER_FOR_TESTS` names another."""
    named = os.environ.get("BROWSER_FOR_TESTS")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


def _high(descriptor: int) -> int:
    """Move a descriptor out of the way of 3 and 4."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


@dataclass
class Browser:
    """One tab of a browser; `said` has its console, its errors and its refusals by a policy."""

    _write: int
    _read: int
    said: list[str] = field(default_factory=list)
    asked_for: list[str] = field(default_factory=list)
    _session: str = ""
    _number: int = 0
    _left: bytes = b""
    _loaded: int = 0

    def open(self, page: Path | str) -> None:
        """Load a page, and forget what an earlier one said."""
        self.said.clear()
        self.asked_for.clear()
        before = self._loaded
        self._call("Page.navigate", url=page.as_uri() if isinstance(page, Path) else page)
        until = time.monotonic() + PATIENCE
        while self._loaded == before:
            self._take(until)

    def look(self, width: int, height: int = 900, *, is_dark: bool = False) -> None:
        """Set the size of the window, and the light that its user prefers."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self._call("Emulation.setEmulatedMedia", media="", features=[scheme])

    def print_out(self) -> None:
        """Show the page as a printer would."""
        self._call("Emulation.setEmulatedMedia", media="print", features=[])

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page, awaited."""
        found = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """Save a picture of the whole page."""
        found = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def start(self) -> None:
        """Open a tab, and listen to it."""
        made = self._call("Target.createTarget", url="about:blank")
        joined = self._call("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._session = joined["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def _call(self, method: str, **arguments: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": arguments}
        if self._session:
            message["sessionId"] = self._session
        _write_all(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._take(until)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])

    def _take(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._left:
            with selectors.DefaultSelector() as selector:
                selector.register(self._read, selectors.EVENT_READ)
                assert selector.select(max(until - time.monotonic(), 0.0)), "the browser is silent"
            more = os.read(self._read, 1 << 16)
            assert more, "the browser has ended"
            self._left += more
        text, _, self._left = self._left.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._hear(message.get("method", ""), message.get("params", {}))
        return message

    def _hear(self, event: str, told: dict[str, Any]) -> None:
        if event == "Page.loadEventFired":
            self._loaded += 1
        elif event == "Log.entryAdded":
            self.said.append(told["entry"]["text"])
        elif event in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            self.said.append(json.dumps(told)[:500])
        elif event == "Page.javascriptDialogOpening":
            self.said.append(f"dialog: {told['message']}")
        elif event == "Network.requestWillBeSent":
            self.asked_for.append(told["request"]["url"])


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


@contextmanager
def running_browser(executable: str, profile: Path) -> Iterator[Browser]:
    """Run a browser with a profile of its own, and end it."""
    (child_in, write), (read, child_out) = os.pipe(), os.pipe()
    child_in, child_out = _high(child_in), _high(child_out)
    launch = [sys.executable, "-S", "-c", LAUNCH, str(child_in), str(child_out)]
    process = subprocess.Popen(
        [*launch, executable, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        pass_fds=(child_in, child_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(child_in)
    os.close(child_out)
    try:
        browser = Browser(write, read)
        browser.start()
        yield browser
    finally:
        process.kill()
        process.wait()
        os.close(write)
        os.close(read)
