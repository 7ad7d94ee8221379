# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants of C in the kernel's style: the same file with one small thing wrong, one at a time.

A statement left out, a condition that always or never holds, an operator or a number exchanged for its neighbour. Text
is all this looks at: what does not compile is no mutant, so it need not be clever about types.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator


@dataclasses.dataclass(frozen=True)
class Mutant:
    """`old` at offset `at` of the file becomes `new`. `line` counts from 1, `function` is where it stands."""

    at: int
    old: str
    new: str
    line: int
    function: str

    def __str__(self) -> str:
        old = " ".join(self.old.split())
        return f"{self.function}: {old} -> {' '.join(self.new.split()) or 'nothing'}"


_OPERATORS = (
    (r"\+\+", "--"), (r"--", "++"), (r"\+=", "-="), (r"-=", "+="), (r"(?<=[\w)\]]) \+ ", " - "), (r"(?<=[\w)\]]) - ", " + "),
    (r" \* ", " / "), (r"(?<=\w) / ", " * "), (r" % ", " / "), (r" << ", " >> "), (r" >> ", " << "), (r" & ", " | "),
    (r" < ", " <= "), (r" <= ", " < "), (r"(?<!-) > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r"(?<=[\s(])!(?=[\w(])", ""), (r"(?<=[\s(,])-(?=[\w(])", ""),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"(?<![\w.])0(?![\w.])", "1"), (r"(?<![\w.])1(?![\w.])", "2"),
    (r"(?<![\w.])63(?![\w.])", "62"),
)  # fmt: skip
_SIZEOF = re.compile(r"sizeof\(\*?\w+\[\Z")  # all elements are of one size
_ROOM = re.compile(r"(?:alloc(?:array)?\([^;]*|\b\w+\[[A-Z][A-Z0-9_]*) \+ 1\b|\bcalloc\(1\b")  # more of it is as good
_EXTREME = re.compile(  # of two that are equal either is the larger: `if (a > b) b = a;` and `a > b ? a : b`
    r"if \((?P<a>[^;()&|]+(?:\([^;()]*\))?) [<>]=? (?P<b>[^;()&|]+)\)\s+(?:(?P=b) = (?P=a);|(?P=a) = (?P=b);)"
    r"|(?P<c>[\w.>\[\]-]+) [<>]=? (?P<d>[\w.>\[\]-]+) \?\s*(?:(?P=c) :\s*(?P=d)|(?P=d) :\s*(?P=c))(?=[;,)\]])"
)
_CONTROL = re.compile(r"(?:else\s+)?(?:if|for|while|switch)\s*\(|else\b|do\b|case\b[^:]*:|default\s*:|\w+:(?!:)")
_DECLARATION = re.compile(
    r"(?:const |static |unsigned |struct |enum |union |u8|u16|u32|u64|s8|s16|s32|s64|int |bool |size_t |void |char )"
)


def blanked(text: str) -> str:
    """The file with comments, strings and directives of the preprocessor blank, all else where it was."""
    pattern = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|^#(?:[^\n\\]|\\\n|\\.)*$"
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.DOTALL | re.MULTILINE)


def functions(code: str) -> Iterator[tuple[str, int, int]]:
    """Name, begin and end of each function's body; in the kernel's style its braces begin a line."""
    for match in re.finditer(
        r"^(?!struct|enum|union|static const)(\w[^;{}=]*?(\w+)\([^;{}=]*\))\n\{\n", code, re.MULTILINE
    ):
        yield match[2], match.end(), code.index("\n}\n", match.end() - 1) + 1


def _closing(code: str, at: int) -> int:
    """Offset behind the parenthesis that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if not depth:
            return i + 1
    raise ValueError("parenthesis")


def _conditions(code: str, begin: int, end: int) -> Iterator[tuple[int, int, str]]:
    for match in re.compile(r"\b(if|while)\s*\(").finditer(code, begin, end):
        last = _closing(code, match.end() - 1)
        inner = code[match.end() : last - 1]
        yield match.end(), last - 1, f"({inner}) || 1"
        yield match.end(), last - 1, f"({inner}) && 0"


def _statements(code: str, begin: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Each simple statement, replaced by none. A declaration is not one; what it begins with is mutated by operators."""
    at = begin
    while at < end:
        match = re.compile(r"[\s{}]*").match(code, at, end)
        assert match
        at = match.end()
        if at >= end:
            return
        control = _CONTROL.match(code, at, end)
        if control and "?" not in code[at : control.end()]:
            at = _closing(code, control.end() - 1) if control[0].endswith("(") else control.end()
            continue
        stop = code.find(";", at, end) + 1
        if not stop:
            return
        if (
            stop - at > 1
            and not _DECLARATION.match(code, at)
            and not code.startswith(("return", "break", "continue"), at)
            and not re.compile(r"(\(void\)\w+[,;] ?)+").fullmatch(code, at, stop)
        ):
            yield at, stop, ";"
        elif code.startswith("break;", at) or code.startswith("continue;", at) or code[at:stop] == "return;":
            yield at, stop, ";"
        at = stop


def _alike(code: str) -> set[int]:
    """Offsets of operators and numbers that may as well be their neighbours."""
    found = {match.end() - 1 for match in _ROOM.finditer(code)}
    for match in _EXTREME.finditer(code):
        comparison = re.compile(r" [<>]=? ").search(code, match.end("a") if match["a"] else match.end("c"))
        assert comparison
        found.add(comparison.start())
    return found


def of(text: str) -> Iterator[Mutant]:
    """All mutants of a file, in their order in it, but those of which it is plain that they do the same."""
    code = blanked(text)
    alike = _alike(code)
    for name, begin, end in functions(code):
        changes = list(_statements(code, begin, end)) + list(_conditions(code, begin, end))
        for pattern, new in _OPERATORS:
            changes += [(m.start(), m.end(), new) for m in re.compile(pattern).finditer(code, begin, end)
                        if not _SIZEOF.search(code, begin, m.start()) and m.start() not in alike]  # fmt: skip
        for start, stop, new in sorted(changes):
            yield Mutant(start, text[start:stop], new, text.count("\n", 0, start) + 1, name)
