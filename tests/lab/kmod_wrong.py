# SPDX-License-Identifier: GPL-2.0-or-later
"""Random requests that are right but for one thing, and the answer that each must get.

The specification has the attributes of an operation, their types and limits. The error is one of WRONGS. Most of them pass the
kernel's parser, its own refusals are few and the same for every family.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import kmod_client as kmod

SIZES = {"u32": "I", "u64": "Q"}
SETS = {one["name"]: one["attributes"] for one in kmod.SPEC["attribute-sets"]}
REQUESTS = {one["name"]: one for one in kmod.SPEC["operations"]["list"] if "do" in one}
MOST_RANGES = 64  # of a journal: RAIDTRACE_JOURNAL_MAX
U64 = 1 << 64

Parts = list[tuple[str, bytes]]  # attributes of a request, by name, with their bytes


class Unfit(Exception):
    """This request cannot have this error."""


@dataclass
class Machine:
    """Disks that are counted and not, and open files, which requests name."""

    client: kmod.Client
    numbers: random.Random
    free: list[str]  # disks that are no target
    targets: dict[int, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)

    def fd(self, path: str, flags: int = os.O_RDONLY) -> int:
        """An open file, kept open."""
        name = f"{path} {flags}"
        if name not in self.files:
            self.files[name] = os.open(path, flags)
        return self.files[name]

    def any_target(self, history: bool = True) -> dict[str, Any]:
        """A target that is there, with or without a history of its requests."""
        return self.numbers.choice([one for one in self.targets.values() if ("history-ns" in one) == history])


def _scalar(machine: Machine, one: dict[str, Any]) -> bytes:
    """A right value of a number, from its type and limits in the specification."""
    numbers, name = machine.numbers, one["name"]
    checks = one.get("checks", {})
    if name == "abi":
        value = next(each["value"] for each in kmod.SPEC["definitions"] if each["name"] == "abi")
    elif name == "id":
        value = machine.any_target()["id"]
    elif name == "fd":
        value = machine.fd(f"/dev/{numbers.choice(machine.free)}")
    elif one.get("enum") == "group":
        value = numbers.randrange(1 << len(kmod.GROUPS))
    elif checks:
        value = numbers.randint(checks["min"], checks["max"])
    else:
        value = numbers.choice((0, 1, 1 << 32, U64 - 1, numbers.randrange(U64)))
    return struct.pack(SIZES[one["type"]], value)


def extent(sector: int, length: int) -> bytes:
    """One range of a journal."""
    return struct.pack("=HHQHHQ", 12, 1, sector, 12, 2, length)


def right(machine: Machine, operation: str) -> Parts:
    """A request that is followed: all it needs, and any of what it may have."""
    request = REQUESTS[operation]
    parts: Parts = []
    for name in request["do"].get("request", {}).get("attributes", []):
        one = next(each for each in SETS[request["attribute-set"]] if each["name"] == name)
        if name not in ("id", "fd") and machine.numbers.random() < 0.5:
            continue
        if one["type"] == "flag":
            parts.append((name, b""))
        elif one["type"] == "nest":
            for _ in range(machine.numbers.randint(1, 3)):
                parts.append((name, extent(machine.numbers.randrange(1 << 40), machine.numbers.randint(1, 1 << 20))))
        else:
            parts.append((name, _scalar(machine, one)))
    return parts


def _without(parts: Parts, name: str) -> Parts:
    left = [part for part in parts if part[0] != name]
    if left == parts:
        raise Unfit
    return left


def _instead(parts: Parts, name: str, *values: bytes) -> Parts:
    return [*_without(parts, name), *((name, value) for value in values)]


def _of_add(operation: str) -> None:
    if operation != "target-add":
        raise Unfit


def _of_history(operation: str) -> None:
    if not operation.startswith("history"):
        raise Unfit


Wrong = Callable[[Machine, str, Parts], tuple[Parts, int, str]]


def nothing(_m: Machine, _o: str, parts: Parts) -> tuple[Parts, int, str]:
    """Right as it is."""
    return parts, 0, ""


def missing(_m: Machine, _o: str, parts: Parts) -> tuple[Parts, int, str]:
    """Without what it is about."""
    name = next((name for name, _ in parts if name in ("id", "fd")), "")
    return _without(parts, name), errno.EINVAL, f"the attribute {name} is missing"


def nobody(machine: Machine, _o: str, parts: Parts) -> tuple[Parts, int, str]:
    """About a target that is not there."""
    number = machine.numbers.choice((0, 0xFFFFFFFF, max(machine.targets) + 100000))
    return _instead(parts, "id", struct.pack("I", number)), errno.ENOENT, f"there is no target {number}"


def closed(machine: Machine, _o: str, parts: Parts) -> tuple[Parts, int, str]:
    """A file that is not open, or not for reading."""
    unreadable = (machine.fd("/dev/sda", flags) for flags in (os.O_WRONLY, os.O_PATH))
    number = machine.numbers.choice((1 << 20, 0xFFFFFFFF, *unreadable))
    return _instead(parts, "fd", struct.pack("I", number)), errno.EBADF, "fd is not a file that is open for reading"


def no_disk(machine: Machine, _o: str, parts: Parts) -> tuple[Parts, int, str]:
    """A file that is no disk."""
    number = machine.fd(machine.numbers.choice(("/dev/null", "/", "/proc/version")))
    return _instead(parts, "fd", struct.pack("I", number)), errno.ENOTBLK, "fd is not a block device"


def twice(machine: Machine, _o: str, parts: Parts) -> tuple[Parts, int, str]:
    """A disk that is a target."""
    target = machine.any_target()
    number = struct.pack("I", machine.fd(f"/dev/{target['disk']}"))
    return _instead(parts, "fd", number), errno.EEXIST, f"{target['disk']} is already target {target['id']}"


def empty_range(_m: Machine, _o: str, parts: Parts) -> tuple[Parts, int, str]:
    """A range of no sectors."""
    text = "empty or too long: 0 sectors from sector 8"
    return _instead(parts, "journal", extent(8, 0)), errno.EINVAL, text


def endless_range(_m: Machine, _o: str, parts: Parts) -> tuple[Parts, int, str]:
    """A range that ends before it begins."""
    text = f"empty or too long: {U64 - 8} sectors from sector 8"
    return _instead(parts, "journal", extent(64, 8), extent(8, U64 - 8)), errno.EINVAL, text


def half_a_range(machine: Machine, _o: str, parts: Parts) -> tuple[Parts, int, str]:
    """A range without begin or length."""
    half = struct.pack("=HHQ", 12, machine.numbers.choice((1, 2)), 8)
    return _instead(parts, "journal", extent(64, 8), half), errno.EINVAL, "a range needs sector and nr-sectors"


def many_ranges(_m: Machine, _o: str, parts: Parts) -> tuple[Parts, int, str]:
    """One range too many."""
    ranges = [extent(64 * i, 8) for i in range(MOST_RANGES + 1)]
    return _instead(parts, "journal", *ranges), errno.E2BIG, f"a journal may have {MOST_RANGES} ranges at most"


def other_abi(machine: Machine, _o: str, parts: Parts) -> tuple[Parts, int, str]:
    """A message of another version."""
    number = machine.numbers.choice((0, 1, 4, 5, 7, 0xFFFFFFFF))
    text = f"the module speaks ABI 6, the client ABI {number}"
    return _instead(parts, "abi", struct.pack("I", number)), errno.EPROTONOSUPPORT, text


def no_history(machine: Machine, operation: str, parts: Parts) -> tuple[Parts, int, str]:
    """The history of a disk that was attached without one."""
    _of_history(operation)
    target = machine.any_target(history=False)
    text = f"{target['disk']} was attached without a history of its requests"
    return _instead(parts, "id", struct.pack("I", target["id"])), errno.EOPNOTSUPP, text


def beyond_limits(machine: Machine, operation: str, parts: Parts) -> tuple[Parts, int, str]:
    """A number outside the limits that the specification has: the parser's refusal."""
    _of_add(operation)
    name, value = machine.numbers.choice((("streams", 0), ("streams", 65), ("groups", 1 << len(kmod.GROUPS))))
    parts = [part for part in parts if part[0] != name]
    return [*parts, (name, struct.pack("I", value))], 0, "*"


def wrong_length(machine: Machine, _o: str, parts: Parts) -> tuple[Parts, int, str]:
    """A number of another length: the parser's refusal."""
    numbers = [part for part in parts if part[0] not in ("journal", "failed")]
    if not numbers:
        raise Unfit
    name, value = machine.numbers.choice(numbers)
    return _instead(parts, name, machine.numbers.choice((b"", value[:-1], value + b"\1\2\3\4"))), 0, "*"


PARSED = (beyond_limits, wrong_length)
WRONGS: tuple[Wrong, ...] = (
    nothing, missing, nobody, closed, no_disk, twice, empty_range, endless_range, half_a_range, many_ranges, other_abi,
    no_history, *PARSED,
)  # fmt: skip


def payload(operation: str, parts: Parts) -> bytes:
    """The attributes as bytes, numbered as in the specification."""
    name = REQUESTS[operation]["attribute-set"]
    raw = b""
    for attribute, value in parts:
        kind = kmod.attribute_number(name, attribute) | (0x8000 if attribute == "journal" else 0)
        raw += struct.pack("HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)
    return raw


def _followed(machine: Machine, operation: str, parts: Parts, reply: list[dict[str, Any]]) -> None:
    """Keep as many targets as there were: what was added is deleted, what was deleted is added."""
    client = machine.client
    if operation == "target-add":
        client.ask("target-del", id=reply[0]["id"])
    if operation == "target-del":
        gone = machine.targets.pop(struct.unpack("I", dict(parts)["id"])[0])
        again = client.add(gone["disk"], history_ns=0)
        machine.targets[again["id"]] = again


def ask(machine: Machine, operation: str, wrong: Wrong) -> str:
    """One request; whether the `module` or the `parser` answered. Raises AssertionError unless it is the answer."""
    parts, error, text = wrong(machine, operation, right(machine, operation))
    what = f"{operation}, {wrong.__name__}"
    try:
        reply = machine.client.ask(operation, raw=payload(operation, parts))
    except kmod.Refused as refusal:
        if text == "*":
            kmod.equal(
                f"{what}: a reason, not the module's", bool(refusal.text) and refusal.text not in MODULE_TEXTS, True
            )
            return "parser"
        kmod.equal(what, (refusal.errno, refusal.text), (error, text))
        MODULE_TEXTS.add(text)
        return "module"
    kmod.equal(f"{what}: answered", (error, text), (0, ""))
    _followed(machine, operation, parts, reply)
    return "module"


MODULE_TEXTS: set[str] = set()  # of refusals by the module so far


@contextlib.contextmanager
def machine(seed: int) -> Iterator[Machine]:
    """sda and six disks of null_blk: three targets with a history, one without, three that are none."""
    names = kmod.null_blk(nr_devices=6, gb=1)
    with kmod.Client() as client:
        made = Machine(client, random.Random(seed), names[3:])
        for name in ("sda", *names[:2]):
            target = client.add(name, history_ns=0)
            made.targets[target["id"]] = target
        target = client.add(names[2], groups=("flow", "depth"))
        made.targets[target["id"]] = target
        try:
            yield made
        finally:
            for number in made.targets:
                client.delete({"id": number})
            for number in made.files.values():
                os.close(number)
    kmod.run("modprobe -r null_blk")


def storm(count: int, seed: int) -> Counter[str]:
    """Send `count` requests. Returns the number that the module and the parser answered, and that of each error."""
    answers: Counter[str] = Counter()
    with machine(seed) as made:
        numbers = made.numbers
        while sum(answers[who] for who in ("module", "parser")) < count:
            wrong = numbers.choice(WRONGS)
            try:
                who = ask(made, numbers.choice(sorted(REQUESTS)), wrong)
            except Unfit:
                continue
            answers[who] += 1
            answers[wrong.__name__] += 1
        listed = {one["id"] for one in made.client.ask("target-get", dump=True)}
        kmod.equal("targets", listed, set(made.targets))
    return answers


def patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Each text of a refusal in the source of the module, and an expression that matches it with its values."""
    texts = []
    for path in sorted((kmod.TOP / "kmod").glob("*.c")):
        for words in re.findall(r'raidtrace_refuse\([^"]*((?:"[^"]*"\s*)+)', path.read_text(encoding="utf-8")):
            text = "".join(re.findall(r'"([^"]*)"', words))
            fits = re.sub(r"%(?:llu|u|d|s|pg)", "(.+)", re.escape(text).replace(r"\%", "%"))
            texts.append((text, re.compile(fits)))
    return texts
