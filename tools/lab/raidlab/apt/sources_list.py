# SPDX-License-Identifier: GPL-2.0-or-later
"""The package sources apt is configured with, and sources for other suites derived from them."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Where newer kernels are, oldest first. Suites that a mirror does not have are left out by apt with a warning.
_OTHER_SUITES = ("{base}-backports", "trixie", "trixie-backports", "sid")


@dataclass(frozen=True)
class Entry:
    """One binary source. `options` are those of one-line syntax, e.g. signed-by=/usr/share/keyrings/x.gpg."""

    options: tuple[str, ...]
    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]


def other_suites() -> list[str]:
    """sources.list lines for other suites of the mirrors that offer the release this machine runs."""
    return derive(list(_configured()), _base_suite())


def derive(entries: list[Entry], base: str) -> list[str]:
    """The same for given entries and base suite; empty when none of them offers it."""
    have = {(entry.uri, suite) for entry in entries for suite in entry.suites}
    lines = []
    for entry in entries:
        if base not in entry.suites or "main" not in entry.components:
            continue
        options = f"[{' '.join(entry.options)}] " if entry.options else ""
        for pattern in _OTHER_SUITES:
            suite = pattern.format(base=base)
            if (entry.uri, suite) not in have:
                have.add((entry.uri, suite))
                lines.append(f"deb {options}{entry.uri} {suite} main")
    return lines


def _base_suite() -> str:
    text = Path("/etc/os-release").read_text(encoding="utf-8")
    match = re.search(r'^VERSION_CODENAME="?([a-z]+)', text, re.MULTILINE)
    return match[1] if match else "stable"


def _configured() -> Iterator[Entry]:
    one_line = ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*.list")]
    for name in sorted(one_line):
        yield from one_line_entries(_text(name))
    for name in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
        yield from deb822_entries(_text(name))


def _text(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except OSError:
        return ""


def one_line_entries(text: str) -> Iterator[Entry]:
    """The binary sources of a sources.list."""
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]*)", line)
        if match:
            options, uri, suite, components = match.groups()
            yield Entry(tuple((options or "").split()), uri, (suite,), tuple(components.split()))


def deb822_entries(text: str) -> Iterator[Entry]:
    """The enabled binary sources of a *.sources file."""
    for stanza in re.split(r"\n\s*\n", text):
        fields = _fields(stanza)
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes") == "no":
            continue
        options = tuple(
            f"{name}={','.join(fields[name].split())}"
            for name in ("signed-by", "architectures", "trusted")
            # A key written into the file itself cannot be an option of a line; apt's own keyring has Debian's.
            if name in fields and "BEGIN PGP" not in fields[name]
        )
        options = tuple(option.replace("architectures=", "arch=") for option in options)
        for uri in fields.get("uris", "").split():
            yield Entry(
                options,
                uri,
                tuple(fields.get("suites", "").split()),
                tuple(fields.get("components", "").split()),
            )


def _fields(stanza: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    last = ""
    for line in stanza.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0] in " \t":
            fields[last] = f"{fields.get(last, '')}\n{line.strip()}"
        else:
            last, _, value = line.partition(":")
            last = last.strip().lower()
            fields[last] = value.strip()
    return fields
