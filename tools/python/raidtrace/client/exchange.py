# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests to raidtrace.ko and their replies. pyroute2 makes and reads the messages; the socket is a plain one.

pyroute2's own GenericNetlinkSocket reads at most 64 KiB (0.7) or 256 KiB (0.9) at once. The reply with all counters of a
disk may be longer, and the kernel drops what is not read.
"""

from __future__ import annotations

import errno
import functools
import os
import socket
import struct
from collections.abc import Iterator
from typing import Any

from pyroute2.netlink import CTRL_CMD_GETFAMILY, GENL_ID_CTRL, ctrlmsg, genlmsg, nlmsgerr

from raidtrace.client.specification import Specification

_NETLINK_GENERIC, _SOL_NETLINK, _NETLINK_EXT_ACK = 16, 270, 11
_REQUEST, _ACK, _DUMP, _INTERRUPTED, _TEXT = 0x1, 0x4, 0x300, 0x10, 0x200  # flags of a message
_ERROR, _DONE = 2, 3  # its types
_HEADER = struct.Struct("=IHHII")
_LARGEST = 1 << 20  # bytes of a read
_DUMPS = 100  # until one is consistent
_SECONDS = 30  # until a request without a reply raises TimeoutError


class Refused(OSError):
    """The kernel refused a request: `errno`, and `text`, the reason that the module gave, or "" if it gave none."""

    def __init__(self, error: int, text: str) -> None:
        super().__init__(error, text or os.strerror(error))
        self.text = text


@functools.lru_cache(maxsize=None)
def specification() -> Specification:
    """The specification that is installed with this package, read once."""
    return Specification()


class Exchange:
    """A socket that speaks the family. Raises Refused when the module is not loaded.

    socket: plain, bound; family: number of the family; sequence: number of the last request.
    """

    def __init__(self) -> None:
        self.specification = specification()
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_GENERIC)
        self.sequence = 0
        try:
            self.socket.bind((0, 0))
            self.socket.setsockopt(_SOL_NETLINK, _NETLINK_EXT_ACK, 1)
            self.socket.settimeout(_SECONDS)
            self.family = self._family()
        except BaseException:
            self.socket.close()
            raise

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def ask(self, operation: str, dump: bool = False, raw: bytes = b"", **values: Any) -> list[dict[str, Any]]:
        """One operation. Returns the replies in order, as dictionaries by the names of the specification.

        values: attributes, with _ for -. raw: encoded attributes, which follow them. dump: all objects, as of target-get.
        Raises Refused, and OSError when no dump is consistent.
        """
        for _ in range(_DUMPS):
            self.send(operation, _DUMP if dump else _ACK, raw, **values)
            replies, whole = [], True
            for flags, message in self.messages(self.specification.message(operation)):
                whole = whole and not flags & _INTERRUPTED
                replies.append(self.specification.decode(self.specification.set_of(operation), message["attrs"]))
            if whole:  # else the list of targets changed during the dump
                return replies
        raise OSError(errno.EINTR, f"the list of targets changed during each of {_DUMPS} dumps")

    def send(self, operation: str, flags: int = 0, raw: bytes = b"", **values: Any) -> None:
        """Send a request as ask() does, and read no reply."""
        message = self.specification.message(operation)()
        named = {name.replace("_", "-"): value for name, value in values.items()}
        message["attrs"] = self.specification.encode(self.specification.set_of(operation), named)
        self._send(message, self.family, self.specification.numbers[operation], flags, raw)

    def _send(self, message: genlmsg, kind: int, command: int, flags: int, raw: bytes = b"") -> None:
        self.sequence += 1
        message["cmd"], message["version"] = command, 1
        message.encode()
        data = bytes(message.data) + raw
        header = _HEADER.pack(len(data), kind, _REQUEST | flags, self.sequence, 0)
        self.socket.send(header + data[_HEADER.size :])

    def messages(self, kind: type[genlmsg]) -> Iterator[tuple[int, genlmsg]]:
        """Flags and content of the messages until the end of the reply to the last request. Raises Refused."""
        while True:
            data, at = self.socket.recv(_LARGEST), 0
            while at < len(data):
                length, number, flags, sequence, _ = _HEADER.unpack_from(data, at)
                begin, at = at, at + (length + 3 & ~3)
                if sequence != self.sequence:
                    continue
                if number in (_ERROR, _DONE):
                    _raise_error(data[begin : begin + length], flags)
                    return
                message = kind(data, offset=begin)
                message.decode()
                yield flags, message

    def _family(self) -> int:
        message = ctrlmsg()
        message["attrs"] = [["CTRL_ATTR_FAMILY_NAME", self.specification.name]]
        self._send(message, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, _ACK)
        try:
            replies = [reply.get_attr("CTRL_ATTR_FAMILY_ID") for _, reply in self.messages(ctrlmsg)]
        except Refused as refusal:
            raise Refused(refusal.errno or 0, f"{self.specification.name}.ko is not loaded") from None
        return int(replies[0])


def _raise_error(data: bytes, flags: int) -> None:
    """Raise Refused if a closing message has an error."""
    error = -struct.unpack_from("=i", data, _HEADER.size)[0] if len(data) >= _HEADER.size + 4 else 0
    if error <= 0:
        return
    text = None
    if flags & _TEXT:
        message = nlmsgerr(data)
        message.decode()
        text = message.get_attr("NLMSGERR_ATTR_MSG")
    raise Refused(error, text.decode() if isinstance(text, bytes) else text or "")
