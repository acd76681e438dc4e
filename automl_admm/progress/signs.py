"""The signs of a picture: those of Unicode, or ASCII for terminals that show nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from automl_admm.progress.visible_text import visible

ASCII_LOCALES = frozenset({"C", "POSIX"})
# Python itself puts one of these there under LANG=C, so nobody may have asked for them.
COERCED = frozenset({"", "C.UTF-8", "C.utf8", "UTF-8"})


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of bars, of the line of convergence (lowest first) and of texts cut short."""

    done: str
    left: str
    levels: str
    more: str
    is_ascii: bool = False

    def shown(self, text: str) -> str:
        """Return a text as it may be shown: hidden signs, and foreign ones, are written out."""
        text = visible(text)
        return text.encode("ascii", "backslashreplace").decode() if self.is_ascii else text


UNICODE = Signs("━", "─", "▁▂▃▄▅▆▇█", "…")
ASCII = Signs("#", "-", "_.:-=+*#", "...", is_ascii=True)


def signs_for(encoding: str | None, environment: Mapping[str, str]) -> Signs:
    """Return the signs that a stream of this encoding shows in this environment.

    >>> signs_for("utf-8", {"LANG": "C"}) is ASCII
    True
    """
    if not (encoding or "").lower().startswith("utf"):
        return ASCII
    named = environment.get("LC_ALL") or environment.get("LC_CTYPE", "")
    if named in COERCED:
        named = environment.get("LANG", "")
    return ASCII if named in ASCII_LOCALES else UNICODE
