# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks that raidtrace.ko counts: attach them, read them, detach them."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from typing import Any

from raidtrace.client.exchange import Exchange, Refused
from raidtrace.client.reading import Counters


class Target:
    """A disk that is counted. `attributes`: by the names of the specification, such as id, disk and groups."""

    def __init__(self, exchange: Exchange, attributes: dict[str, Any]) -> None:
        self._exchange = exchange
        self.attributes = attributes
        self.id: int = attributes["id"]
        self.disk: str = attributes["disk"]
        self.groups: frozenset[str] = frozenset(attributes["groups"])

    def counters(self) -> Counters:
        """One reading; without CAP_PERFMON of the group flow alone, and up to 50 ms old. Raises Refused."""
        return Counters(self._exchange.ask("counters-get", id=self.id)[0])

    def reset(self) -> None:
        """Set the counters to zero, for all readers. Needs CAP_SYS_ADMIN. Raises Refused."""
        self._exchange.ask("target-reset", id=self.id)

    def detach(self) -> None:
        """End counting. Needs CAP_SYS_ADMIN. Raises Refused."""
        self._exchange.ask("target-del", id=self.id)


class Client:
    """A connection to raidtrace.ko, for a with statement. Replies are whole: partial ones are never requested.

    Raises Refused when the module is not loaded, or when its numbers have another meaning (ABI) than this package knows.
    """

    def __init__(self) -> None:
        self._exchange = Exchange()
        try:
            self.info()
        except BaseException:
            self._exchange.close()
            raise

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection. Disks stay attached."""
        self._exchange.close()

    def info(self) -> dict[str, Any]:
        """Version and limits of the module, by the names of the specification."""
        return self._exchange.ask("info-get", abi=self._exchange.specification.constants["abi"])[0]

    def targets(self) -> list[Target]:
        """All disks that are counted."""
        return [Target(self._exchange, one) for one in self._exchange.ask("target-get", dump=True)]

    def target(self, disk: str) -> Target:
        """A disk that is counted, by name or path. Raises LookupError for one that is not."""
        number = _number(disk)
        for target in self.targets():
            if target.attributes["state"] == "active" and _number_of(target) == number:
                return target
        raise LookupError(f"{disk} is not attached")

    def attach(self, disk: str, groups: Iterable[str] | None = None) -> Target:
        """Begin to count a disk, by name or path: the named groups and flow, without names all but hwq.

        Needs CAP_SYS_ADMIN. Raises Refused, also for a disk that is attached already, and OSError when it cannot be opened.
        """
        options: dict[str, Any] = {} if groups is None else {"groups": list(groups)}
        with open(_path(disk), "rb", buffering=0) as opened:
            return Target(self._exchange, self._exchange.ask("target-add", fd=opened.fileno(), **options)[0])

    @contextlib.contextmanager
    def attached(self, disk: str, groups: Iterable[str] | None = None) -> Iterator[Target]:
        """A disk that is counted in a with block. At its end the disk is detached if it was attached here.

        A disk that is attached already may be used without privilege. Raises ValueError when it lacks one of `groups`.
        """
        groups = None if groups is None else list(groups)
        target, ours = self._found_or_attached(disk, groups)
        lacking = sorted(set(groups or ()) - target.groups)
        if lacking:
            raise ValueError(f"{disk} is attached without the groups {', '.join(lacking)}")
        try:
            yield target
        finally:
            if ours:
                self._detached(target)

    def _found_or_attached(self, disk: str, groups: list[str] | None) -> tuple[Target, bool]:
        with contextlib.suppress(LookupError):
            return self.target(disk), False
        try:
            return self.attach(disk, groups), True
        except Refused as refusal:
            if refusal.errno != errno.EEXIST:
                raise
        return self.target(disk), False  # another client attached it in between

    @staticmethod
    def _detached(target: Target) -> None:
        try:
            target.detach()
        except Refused as refusal:
            if refusal.errno != errno.ENOENT:  # another client detached it; no later target has this id
                raise


def _path(disk: str) -> str:
    return disk if "/" in disk else f"/dev/{disk.replace('!', '/')}"


def _number(disk: str) -> tuple[int, int]:
    """Major and minor of the node of a disk."""
    number = os.stat(_path(disk)).st_rdev
    return os.major(number), os.minor(number)


def _number_of(target: Target) -> tuple[int, int]:
    return target.attributes["major"], target.attributes["minor"]
