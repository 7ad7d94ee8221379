# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages to the family that nobody in their right mind sends, the same ones each time; and who sends them at once.

Random values come from the specification, so that most messages pass the first check. Only attributes of a
device number lead to a disk that exists: a message that happens to be right is executed.
"""

from __future__ import annotations

import errno
import json
import os
import random
import struct
import time
from collections.abc import Callable
from typing import Any

import kmod_client as kmod

NESTED = 0x8000
FLAGS = (0, 4, 0x300, 0x305, 0x100, 0x200, 0x800, 0x7FF)
KINDS = [one["name"] for one in kmod.SPEC["attribute-sets"]]


def attribute(kind: int, data: bytes, length: int | None = None) -> bytes:
    """One attribute; `length` is what its header claims."""
    size = 4 + len(data) if length is None else length
    return struct.pack("HH", size & 0xFFFF, kind & 0xFFFF) + data + b"\0" * (-len(data) % 4)


def payload(numbers: random.Random, ids: list[int], depth: int = 0) -> bytes:
    """Some attributes, some of them right."""
    parts = []
    for _ in range(numbers.choice((0, 1, 1, 2, 3, 8))):
        kind = numbers.choice((1, 2, 3, 4, 5, 6, 7, numbers.randrange(64), numbers.randrange(1 << 14)))
        form = numbers.randrange(10)
        if form < 4:
            parts.append(attribute(kind, struct.pack("I", numbers.choice([*ids, 0, 1, 7, 8, 240, 0xFFFFFFFF]))))
        elif form == 4:
            parts.append(attribute(kind, numbers.randbytes(numbers.choice((0, 1, 2, 3, 5, 7, 8, 16, 300)))))
        elif form == 5:
            parts.append(attribute(kind, b"\0" * 4, numbers.choice((0, 1, 3, 5, 200, 0xFFFF))))
        elif form == 6 and depth < 12:
            parts.append(attribute(kind | NESTED, payload(numbers, ids, depth + 1)[:40000]))
        elif form == 7:
            parts.append(attribute(kind | 0x4000, struct.pack("I", 1)))
        elif form == 8:
            parts.append(numbers.randbytes(numbers.randrange(9)))
        else:
            parts.append(attribute(kind, numbers.randbytes(numbers.choice((4096, 30000)))))
    return b"".join(parts)


def send(client: kmod.Client, command: int, version: int, flags: int, body: bytes, claimed: int | None = None) -> int:
    """One message as it is; the errno of the answer, 0 for none."""
    client.sequence += 1
    data = struct.pack("BBxx", command & 0xFF, version & 0xFF) + body
    header = struct.pack(
        "IHHII", 16 + len(data) if claimed is None else claimed, client.family, 1 | flags, client.sequence, 0
    )
    client.socket.settimeout(0.02)
    try:
        client.socket.send(header + data)
        if flags & 0x304:
            list(client.messages())
    except kmod.Refused as refusal:
        return refusal.errno
    except TimeoutError:
        return errno.ETIME
    except OSError as error:
        return error.errno or errno.EIO
    return 0


def storm(count: int, seed: int, ids: list[int]) -> dict[int, int]:
    """Send `count` messages; how often each errno came back."""
    numbers = random.Random(seed)
    errors: dict[int, int] = {}
    client = kmod.Client()
    for number in range(count):
        body = payload(numbers, ids)
        if len(body) > 60000:
            body = body[:60000]
        command = numbers.choice((1, 2, 3, 4, 5, 6, 7, 8, numbers.randrange(256)))
        # A disk is not added by chance more often than a target is deleted: the list stays short.
        claimed = None if numbers.random() < 0.9 else numbers.choice((0, 8, 15, 16, 17, 19, 20, 21, 1 << 20))
        error = send(client, command, numbers.choice((0, 1, 2, 255)), numbers.choice(FLAGS), body, claimed)
        errors[error] = errors.get(error, 0) + 1
        if error == errno.ETIME or number % 500 == 499:
            client.socket.close()
            client = kmod.Client()
    client.socket.close()
    return errors


def adder(disk: str, goes_on: Callable[[int], bool], pause_s: float = 0) -> tuple[int, int, int]:
    """Add and delete one disk over and over, against others who do the same: Returns counts: added, refused, absent.

    pause_s: for which it stays a target, since simulated time stands still while anybody computes.
    """
    done = refused = absent = 0
    with kmod.Client() as client:
        while goes_on(done + refused + absent):
            try:
                target = client.add(disk)
                time.sleep(pause_s)
                client.counters(target)
                client.delete(target)
                done += 1
            except kmod.Refused as refusal:
                kmod.equal(f"errno {refusal.errno}: a reason", bool(refusal.text), True)
                refused += 1
            except OSError as error:  # the disk goes, and comes
                kmod.equal("why it cannot be opened", error.errno in (errno.ENOENT, errno.ENXIO, errno.ENODEV), True)
                absent += 1
    return done, refused, absent


def times(count: int) -> Callable[[int], bool]:
    """For who does something so often."""
    return lambda done: done < count


def dumper(goes_on: Callable[[int], bool]) -> int:
    """Dump all targets. Returns the highest number of targets in a dump."""
    most = done = 0
    with kmod.Client() as client:
        while goes_on(done):
            done += 1
            targets = client.ask("target-get", dump=True)
            most = max(most, len(targets))
            for target in targets:
                try:
                    client.counters(target)
                    client.ask("target-get", id=target["id"])
                except kmod.Refused as refusal:
                    kmod.equal("the only refusal there is", refusal.errno, errno.ENOENT)
    return most


def children(*functions: Callable[[], Any]) -> list[Any]:
    """Run each in a process of its own, and raise unless all end well; what each returned."""
    started = []
    for function in functions:
        end, begin = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.write(begin, json.dumps(function()).encode())
            except BaseException as error:  # pylint: disable=broad-except
                print(f"# {type(error).__name__}: {error}", flush=True)
                os._exit(1)
            os._exit(0)
        os.close(begin)
        started.append((child, open(end, encoding="utf-8")))
    results = [file.read() for _, file in started]
    status = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child, _ in started]
    kmod.equal("how the processes ended", status, [0] * len(status))
    return [json.loads(text) for text in results]
