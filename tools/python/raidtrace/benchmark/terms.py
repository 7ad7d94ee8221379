# SPDX-License-Identifier: GPL-2.0-or-later
"""The terms of a test: amount of data, size of a call, number of processes that seek. A comparison of two figures also
compares their terms, so that two different tests are not taken for one.

Terms are parsed from the recorded command. Those of a published table are listed here. Sizes are in KiB.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

Term = int | str
Terms = Mapping[str, Term]
NONE: Terms = MappingProxyType({})
DATA, CALL, SEEKERS, CONTENT, CACHE, PROGRAM = "data", "calls of", "seekers", "content", "page cache", "program"
SIZES = (DATA, CALL)
# phase -> terms with so much effect that another value makes another test; "" stands for every phase. A sequential rate
# hardly depends on the size of calls or the amount of data, so such a difference is only reported.
DECIDES: Mapping[str, tuple[str, ...]] = {
    "": (CACHE,),
    "seeks": (DATA, CALL, SEEKERS),
    "random-read": (DATA, CALL),
    "random-write": (DATA, CALL),
}
ALONE = {SEEKERS: ("seeks",)}  # terms without effect on other phases
_UNITS = {"": 1, "c": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "kb": 1000, "mb": 1000**2, "gb": 1000**3}
USED, PAST = "used", "passed by"
BONNIE_CHUNK_KIB, BONNIE_SEEKERS = 8, 5  # of 1.9x and 2.00; 1.0x had 3 seekers

PUBLISHED: Mapping[tuple[str, str], Terms] = {
    ("amcc", "dd"): {DATA: 20 << 20, CALL: 1024, CACHE: USED},
    ("amcc", "bonnie++"): {DATA: 20 << 20, CALL: 8, SEEKERS: 3, CACHE: USED, PROGRAM: "bonnie++"},  # 1.02c
    ("amcc", "iozone"): {DATA: 20 << 20, CALL: 64, CACHE: USED, PROGRAM: "iozone"},
    ("caltech", "bonnie++"): {DATA: 5000 << 10, CALL: 64, SEEKERS: 3, CACHE: USED, PROGRAM: "bonnie++"},
    ("coraid", "ddt"): {DATA: 4 << 20, CALL: 1024, CONTENT: "random", CACHE: USED},
    ("howto", "bonnie++"): {CALL: 16, CACHE: USED, PROGRAM: "bonnie"},  # it gives the data only as 2 x RAM
}


@dataclasses.dataclass(frozen=True)
class Difference:
    """A term in which two tests differ. decides: because of it, they are not the same test."""

    name: str
    a: str
    b: str
    decides: bool

    def text(self) -> str:
        """The difference as text, with A and B as in raidctl compare."""
        return f"{self.name} {self.a} in A, {self.b} in B"

    def instead(self) -> str:
        """The difference as text: B's value instead of A's."""
        return f"{self.name} {self.b} instead of {self.a}"


def differences(a: Terms, b: Terms, phase: str) -> tuple[Difference, ...]:
    """The terms that differ: they are known for both sides, or decide and are missing for one. Empty: a side has no
    terms."""
    decisive = DECIDES[""] + DECIDES.get(phase, ())
    if not a or not b:
        return ()
    different = []
    for name in dict.fromkeys((*a, *b)):
        if phase not in ALONE.get(name, (phase,)):
            continue
        in_both = name in a and name in b
        if in_both and a[name] != b[name] or not in_both and name in decisive:
            different.append(Difference(name, _text(name, a.get(name)), _text(name, b.get(name)), name in decisive))
    return tuple(different)


def same_test(different: Iterable[Difference]) -> bool:
    """Whether figures of tests with these differences are comparable."""
    return not any(one.decides for one in different)


def _text(name: str, value: Term | None) -> str:
    if value is None:
        return "not known"
    if name not in SIZES or isinstance(value, str):
        return str(value)
    for unit, word in ((1 << 20, "GiB"), (1 << 10, "MiB")):
        if value >= unit and value % (unit >> 3) == 0:
            return f"{value / unit:g} {word}"
    return f"{value} KiB"


def of_command(words: Sequence[str]) -> Terms:
    """The terms of the benchmark in a command line, also after a wrapper such as time. Empty: no known benchmark."""
    for at, word in enumerate(words):
        reader = READERS.get(word.rpartition("/")[2])
        if reader:
            values = reader(words[at + 1 :])
            return {name: value for name, value in values.items() if value is not None}
    return NONE


def _size(text: str, unit: int = 1) -> int | None:
    """A size in bytes. unit: for a number without a unit. None: not a size."""
    match = re.fullmatch(r"(\d+)([a-zA-Z]*)", text)
    if not match:
        return None
    factor = _UNITS.get(match[2].lower().removesuffix("ib")) if match[2] else unit
    return int(match[1]) * factor if factor else None


def _kib(octets: int | None) -> int | None:
    return None if octets is None else octets >> 10


def _option(words: Sequence[str], *names: str) -> str | None:
    """The value of an option, in the next word or in the same word."""
    for at, word in enumerate(words):
        for name in names:
            if word == name and at + 1 < len(words):
                return words[at + 1]
            if word.startswith(name) and word != name:
                return word[len(name) :].removeprefix("=")
    return None


def _dd(words: Sequence[str]) -> Mapping[str, Term | None]:
    operands = dict(word.split("=", 1) for word in words if "=" in word)
    block, count = _size(operands.get("bs", "512")), _size(operands.get("count", ""))
    direct = "direct" in f"{operands.get('iflag', '')},{operands.get('oflag', '')}".split(",")
    return {
        DATA: _kib(block * count) if block and count else None,
        CALL: _kib(block),
        CACHE: PAST if direct else USED,
    }


def _bonnie(words: Sequence[str]) -> Mapping[str, Term | None]:
    parts = (_option(words, "-s") or "").split(":")
    chunk = _kib(_size(parts[1])) if len(parts) > 1 else BONNIE_CHUNK_KIB
    seekers = int(parts[3]) if len(parts) > 3 and parts[3].isdigit() else BONNIE_SEEKERS
    data, cache = _kib(_size(parts[0], 1 << 20)), PAST if "-D" in words else USED
    return {DATA: data, CALL: chunk, SEEKERS: seekers, CACHE: cache, PROGRAM: "bonnie++"}


def _iozone(words: Sequence[str]) -> Mapping[str, Term | None]:
    size, record = _size(_option(words, "-s") or "", 1 << 10), _size(_option(words, "-r") or "", 1 << 10)
    return {DATA: _kib(size), CALL: _kib(record), CACHE: PAST if "-I" in words else USED, PROGRAM: "iozone"}


def _fio(words: Sequence[str]) -> Mapping[str, Term | None]:
    sizes, calls = ({word.split("=", 1)[1] for word in words if word.startswith(name)} for name in ("--size=", "--bs="))
    data, call = (_kib(_size(distinct.pop())) if len(distinct) == 1 else None for distinct in (sizes, calls))
    return {DATA: data, CALL: call, CACHE: PAST if "--direct=1" in words else USED, PROGRAM: "fio"}


def _ddt(words: Sequence[str]) -> Mapping[str, Term | None]:
    block, count = _size(_option(words, "-b") or "1M"), _size(_option(words, "-c") or "4096")
    data = _kib(block * count) if block and count else None
    return {DATA: data, CALL: _kib(block), CONTENT: _option(words, "-d") or "random", CACHE: USED}


READERS: Mapping[str, Callable[[Sequence[str]], Mapping[str, Term | None]]] = {
    "dd": _dd,
    "bonnie++": _bonnie,
    "iozone": _iozone,
    "fio": _fio,
    "ddt": _ddt,
}
