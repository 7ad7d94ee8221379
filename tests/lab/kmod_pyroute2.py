# SPDX-License-Identifier: GPL-2.0-or-later
"""Talk to raidtrace.ko from Python: generic netlink by pyroute2, messages by the specification.

Nothing of a message is written down here. Operations, attributes, their types and their order are read from the
family's specification (raidtrace.yaml) when the module is imported, so they cannot drift from the kernel's:

    with Client() as client:
        target = client.add("/dev/sda")
        print(client.counters(target["id"])["now-ns"])

Names are the specification's; what the numbers mean is in Documentation/counters.rst. Attributes that the kernel leaves
out, because it does not have the number, are not in the dictionary.
"""

from __future__ import annotations

import os
import pathlib
import struct
from typing import Any

import yaml
from pyroute2.netlink import NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, genlmsg, nla
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.generic import GenericNetlinkSocket

SPECIFICATION = pathlib.Path(__file__).resolve().parents[2] / "Documentation/netlink/specs/raidtrace.yaml"

_PLAIN = {"string": "asciiz", "flag": "flag", "binary": "cdata", "pad": "none"}
_INTEGER = {"u": "uint", "s": "int"}
_FORMAT = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "s8": "b", "s16": "h", "s32": "i", "s64": "q"}


class Refused(Exception):
    """The kernel's refusal: `errno`, and the reason it gave, empty if it gave none."""

    def __init__(self, errno: int, reason: str) -> None:
        super().__init__(reason or os.strerror(errno))
        self.errno = errno
        self.reason = reason


class Specification:
    """The family as its YAML says it is: message classes for pyroute2, made from the attribute sets."""

    def __init__(self, path: pathlib.Path = SPECIFICATION) -> None:
        text = yaml.safe_load(path.read_text(encoding="utf-8"))
        self.name: str = text["name"]
        self.sets = {one["name"]: one["attributes"] for one in text["attribute-sets"]}
        listed = text["operations"]["list"]
        self.operations = {one["name"]: (number, one) for number, one in enumerate(listed, 1)}
        self.enums = {
            one["name"]: [entry if isinstance(entry, str) else entry["name"] for entry in one["entries"]]
            for one in text["definitions"]
            if one["type"] in ("enum", "flags")
        }
        self.flags = {one["name"] for one in text["definitions"] if one["type"] == "flags"}
        self.abi: int = next(one["value"] for one in text["definitions"] if one["name"] == "abi")
        self._classes: dict[str, type[nla]] = {}
        self.messages = {name: self._message(name) for name in {one["attribute-set"] for one in self._with_set(listed)}}

    @staticmethod
    def _with_set(operations: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [one for one in operations if "attribute-set" in one]

    def _map(self, name: str) -> tuple[tuple[str, str], ...]:
        return (("UNUSED", "none"), *((one["name"], self._kind(one)) for one in self.sets[name]))

    def _kind(self, attribute: dict[str, Any]) -> str:
        kind = str(attribute["type"])
        if kind == "nest":
            return f"set_{attribute['nested-attributes'].replace('-', '_')}"
        return _PLAIN.get(kind) or _INTEGER[kind[0]] + kind[1:]

    def _nested(self, name: str) -> dict[str, Any]:
        """What a class of messages needs: the map, and the classes of the sets that are nested in it."""
        inner = {one["nested-attributes"] for one in self.sets[name] if one["type"] == "nest"}
        members: dict[str, Any] = {f"set_{one.replace('-', '_')}": self._class(one) for one in inner}
        return members | {"nla_map": self._map(name), "prefix": ""}

    def _class(self, name: str) -> type[nla]:
        if name not in self._classes:
            self._classes[name] = type(name, (nla,), self._nested(name))
        return self._classes[name]

    def _message(self, name: str) -> type[genlmsg]:
        return type(name, (genlmsg,), self._nested(name))

    def attributes(self, operation: str) -> str:
        """Name of the set that the messages of an operation, or of what it notifies of, are made of."""
        one = self.operations[operation][1]
        return str(one["attribute-set"]) if "attribute-set" in one else self.attributes(one["notify"])

    def encode(self, name: str, values: dict[str, Any]) -> list[list[Any]]:
        """Values by name as pyroute2 takes them; a list where an attribute may come more than once."""
        result = []
        for one in self.sets[name]:
            for value in _listed(values.get(one["name"]), bool(one.get("multi-attr"))):
                if one["type"] == "nest":
                    value = {"attrs": self.encode(one["nested-attributes"], value)}
                elif "enum" in one:
                    value = self._number(one, value)
                result.append([one["name"], value])
        unknown = set(values) - {one["name"] for one in self.sets[name]}
        if unknown:
            raise ValueError(f"{name} has no attribute {', '.join(sorted(unknown))}")
        return result

    def _number(self, attribute: dict[str, Any], value: Any) -> int:
        names = self.enums[attribute["enum"]]
        if isinstance(value, str):
            return names.index(value)
        return value if isinstance(value, int) else sum(1 << names.index(one) for one in value)

    def decode(self, name: str, attributes: list[Any]) -> dict[str, Any]:
        """What pyroute2 made of a message, by name."""
        known = {one["name"]: one for one in self.sets[name]}
        result: dict[str, Any] = {}
        for key, value in (tuple(pair)[:2] for pair in attributes):
            one = known.get(key)
            if one is None or one["type"] == "pad":
                continue
            value = self._value(one, value)
            if one.get("multi-attr"):
                result.setdefault(key, []).append(value)
            else:
                result[key] = value
        return result

    def _value(self, attribute: dict[str, Any], value: Any) -> Any:
        kind = attribute["type"]
        if kind == "nest":
            return self.decode(attribute["nested-attributes"], value["attrs"])
        if kind == "flag":
            return True
        if kind == "binary":
            code = _FORMAT[attribute.get("sub-type", "u8")]
            return list(struct.unpack(f"={len(value) // struct.calcsize('=' + code)}{code}", value))
        if "enum" in attribute:
            return self._words(attribute, value)
        return value

    def _words(self, attribute: dict[str, Any], value: int) -> Any:
        names = self.enums[attribute["enum"]]
        if attribute["enum"] in self.flags or attribute.get("enum-as-flags"):
            return [one for bit, one in enumerate(names) if value >> bit & 1]
        return names[value] if value < len(names) else value


def _listed(value: Any, multiple: bool) -> list[Any]:
    if value is None or value is False:
        return []
    return list(value) if multiple else [value]


class Client:
    """A socket that speaks the family. Raises Refused, and OSError when the module is not loaded."""

    def __init__(self, specification: Specification | None = None) -> None:
        self.specification = specification or Specification()
        self._socket = GenericNetlinkSocket(ext_ack=True)
        self._socket.module_err_level = "debug"
        try:
            self._socket.bind(self.specification.name, genlmsg)
        except NetlinkError as error:
            self._socket.close()
            raise OSError(error.code, "raidtrace.ko is not loaded") from None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, operation: str, values: dict[str, Any] | None = None, dump: bool = False) -> list[dict[str, Any]]:
        """One operation of the specification; the replies in order."""
        number = self.specification.operations[operation][0]
        name = self.specification.attributes(operation)
        message = self.specification.messages[name]()
        message["cmd"], message["version"] = number, 1
        message["attrs"] = self.specification.encode(name, values or {})
        self._socket.marshal.msg_map[self._socket.prid] = self.specification.messages[name]
        flags = NLM_F_REQUEST | (NLM_F_DUMP if dump else NLM_F_ACK)
        try:
            replies = self._socket.nlm_request(message, self._socket.prid, flags)
        except NetlinkError as error:
            reason = error.args[1] if len(error.args) > 1 and error.args[1] != os.strerror(error.code) else ""
            raise Refused(error.code, reason) from None
        return [self.specification.decode(name, reply["attrs"]) for reply in replies if reply.get("attrs")]

    def info(self) -> dict[str, Any]:
        """Version and limits of the module; refused when it counts other things than this client knows."""
        return self.ask("info-get", {"abi": self.specification.abi})[0]

    def targets(self) -> list[dict[str, Any]]:
        """All disks that are counted."""
        return self.ask("target-get", dump=True)

    def add(self, path: str | os.PathLike[str], **more: Any) -> dict[str, Any]:
        """Begin to count a disk by its node in /dev; `more` are other attributes of target-add. The target."""
        with open(path, "rb", buffering=0) as disk:
            return self.ask("target-add", {"fd": disk.fileno(), **more})[0]

    def delete(self, target: int) -> None:
        """End counting and forget the counters."""
        self.ask("target-del", {"id": target})

    def reset(self, target: int) -> None:
        """Set the counters to zero."""
        self.ask("target-reset", {"id": target})

    def counters(self, target: int) -> dict[str, Any]:
        """One consistent snapshot of a target."""
        return self.ask("counters-get", {"id": target})[0]
