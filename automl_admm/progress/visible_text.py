r"""Texts of data, files and plugins as they may be shown: hidden signs are written out.

Names of columns, labels, texts of pipelines and of exceptions may hold escape sequences (to move
the cursor, recolour, retitle or type into a terminal) and signs to reverse the order of letters.
They are shown as `\x1b` and the like.
"""

from __future__ import annotations

import unicodedata

# Controls, signs without a look of their own (of which some turn the direction of text around),
# halves of characters, and what separates lines and paragraphs.
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
LAYOUT = frozenset("\n\t")


def visible(text: str) -> str:
    """Return a text with its hidden signs written out; line breaks and tabs stay."""
    # Most pages of code hide nothing else: then no sign is looked at by itself.
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(_shown(sign) if _is_hidden(sign) else sign for sign in text)


def _is_hidden(sign: str) -> bool:
    return sign not in LAYOUT and unicodedata.category(sign) in HIDDEN


def _shown(sign: str) -> str:
    return sign.encode("unicode_escape").decode()


def in_a_line(text: object) -> str:
    """Return a text as a name or a cell shows it: on one line."""
    return visible(str(text)).replace("\n", "\\n").replace("\t", "\\t")
