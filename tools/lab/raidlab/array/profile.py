# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles: TOML files that describe simulated devices, checked key by key and flattened for the model."""

from __future__ import annotations

import difflib
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tomllib
from raidlab.base import cache
from raidlab.base.failure import LabError

DIRECTORY = cache.LAB / "profiles"
DEFAULT = "9500s-12-raid0"
DRIVER = "3w-9xxx"  # the driver of a profile that does not set `device`
_FIT = "fit."
_MOST_DEVICES = 16  # RL_MAX_DEVICES of the models
_FLASH_MIB = 4  # RL_CHUNK_BYTES: each flash device behind ahci has its own chunk


@dataclass(frozen=True)
class Key:
    """A key of the model. `low` and `high` bound numbers; `choices` are the allowed words."""

    name: str
    kind: str
    low: int
    high: int
    choices: tuple[str, ...]
    preset: str

    def allowed(self) -> str:
        if self.kind == "number":
            return f"a whole number from {self.low} to {self.high}, or true, false for 1, 0"
        if self.kind == "text":
            return f"text of at most {self.high - 1} characters, without comma, = and _"
        return "one of " + ", ".join(f'"{choice}"' for choice in self.choices)


@dataclass(frozen=True)
class Model:
    """The keys that the models accept, by driver, and the size of one log entry in bytes."""

    keys: dict[str, dict[str, Key]]
    log_entry_bytes: int
    program: Path | None = None  # profile-keys

    def conflict(self, parameter: str) -> tuple[str, str] | None:
        """The key to change and the reason, if values contradict each other although each is allowed."""
        if self.program is None:
            return None
        done = subprocess.run([self.program, parameter], capture_output=True, text=True, check=False)
        key, _, why = done.stdout.strip().partition(": ")
        return (key, why) if done.returncode else None


@dataclass(frozen=True)
class Profile:
    """A checked profile. `values` are flat: array.level -> raid0. `pool_mib` is the memory that the model uses for contents
    and log, in addition to the guest's. `driver` is the kind of device, `count` the number of devices."""

    name: str
    path: Path
    values: dict[str, str]
    title: str
    pool_mib: int
    driver: str
    count: int

    def is_set(self, begin: str) -> bool:
        """Whether a number is not 0 whose key begins with the given text."""
        return any(key.startswith(begin) and value != "0" for key, value in self.values.items())

    def parameter(self) -> str:
        """The parameter of insmod raidlab.ko: config="name=...,array.level=raid0,..."."""
        return f'config="{self.flat()}"'

    def flat(self) -> str:
        """name=...,array.level=raid0,..."""
        pairs = {"name": self.name[:31]} | ({} if self.driver == DRIVER else {"device": self.driver}) | self.values
        return ",".join(f"{key}={value}" for key, value in pairs.items())


@dataclass(frozen=True)
class Devices:
    """The profiles of one guest, in the order of their devices."""

    profiles: tuple[Profile, ...]

    @property
    def name(self) -> str:
        """The name that /proc/raidlab/status shows."""
        return ", ".join(one.name for one in self.profiles)

    @property
    def pool_mib(self) -> int:
        """The memory that the models use, in MiB."""
        return sum(one.pool_mib for one in self.profiles)

    @property
    def notes(self) -> list[str]:
        """Notes for the user on valid profiles."""
        kept = [one.name for one in self.profiles if one.driver == "virtio-blk" and one.is_set("fault.lose_")]
        why = (
            "its driver has no timeout: a request that fault.lose loses never completes, and its caller waits for ever"
        )
        return [f"profile {name}: {why}" for name in kept]

    @property
    def drivers(self) -> list[str]:
        """Names of Linux drivers, each once, in the order of the devices."""
        return list(dict.fromkeys(one.driver for one in self.profiles))

    def parameter(self) -> str:
        """The parameter of insmod raidlab.ko."""
        return " ".join(one.parameter() for one in self.profiles)


def load_all(names: str, model: Model, store_mib: int | None = None, settings: Sequence[str] = ()) -> Devices:
    """Load the profiles in `names`, a list with commas. A setting applies to each profile whose device has its key."""
    drivers = [(name, driver_of(name, model)) for name in names.split(",")]
    for setting in settings:
        _named(setting, dict.fromkeys(driver for _, driver in drivers), model)
    for name, driver in drivers:
        if driver == "nvme" and drivers.count((name, driver)) > 1:
            why = "twice in one guest: its drives would have the same serial numbers, and Linux refuses the second"
            raise LabError(f"profile {name}", why, "For several drives of one profile: --set count=2")
    devices = Devices(tuple(
        load(name, model, store_mib, [one for one in settings if _fits(one, model.keys[driver])])
        for name, driver in drivers
    ))  # fmt: skip
    count = sum(one.count for one in devices.profiles)
    if count > _MOST_DEVICES:
        raise LabError(f"profile {names}", f"{count} devices", f"A guest has at most {_MOST_DEVICES}.")
    return devices


def _fits(setting: str, keys: dict[str, Key]) -> bool:
    """Whether a setting applies to a device with these keys. Text other than KEY=VALUE applies to all; each profile refuses
    it."""
    return "=" not in setting or setting.partition("=")[0].strip() in keys


def driver_of(name: str, model: Model) -> str:
    """The driver that the profile `name` sets for its device."""
    path = find(name)
    text = _text_of(path)
    driver = _parsed(path, text).get("device", DRIVER)
    if not isinstance(driver, str) or driver not in model.keys:
        raise _refusal(path, text, "device", f"{driver!r} is no device", f"Allowed: {', '.join(model.keys)}.")
    return driver


def parse_model(text: str, program: Path | None = None) -> Model:
    """Parse the output of the program profile-keys. `program` is its path."""
    keys: dict[str, dict[str, Key]] = {}
    *lines, last = text.splitlines()
    for line in lines:
        driver, name, kind, low, high, preset = line.split("\t")
        choices = tuple(high.split(",")) if kind == "choice" else ()
        bounds = (0, 0) if choices else (int(low), int(high))
        keys.setdefault(driver, {})[name] = Key(name, kind, *bounds, choices, preset)
    return Model(keys, int(last.split("\t")[1]), program)


def names() -> list[str]:
    return sorted(path.stem for path in DIRECTORY.glob("*.toml"))


def find(name: str) -> Path:
    """The path of a profile: by its name, or any file by its path."""
    path = Path(name) if name.endswith(".toml") else DIRECTORY / f"{name}.toml"
    if path.is_file():
        return path.absolute()
    if name.endswith(".toml"):
        raise LabError(f"profile {name}", "there is no such file", "For the names of profiles: raidctl lab profiles")
    close = difflib.get_close_matches(name, names(), 1)
    hint = f"Did you mean {close[0]}? " if close else ""
    raise LabError(f"profile {name}", "no profile has this name", f"{hint}Profiles: {', '.join(names()) or 'none'}")


def load(name: str, model: Model, store_mib: int | None = None, settings: Sequence[str] = ()) -> Profile:
    """Read and check a profile. `store_mib` and `settings` (each KEY=VALUE) replace the profile's values."""
    path = find(name)
    text = _text_of(path)
    driver = driver_of(name, model)
    flat = {key: value for key, value in _parsed(path, text).items() if key != "device"}
    values = {}
    keys = model.keys[driver]
    for key, value in flat.items():
        if key.startswith(_FIT):
            _check_fit(path, text, key, value, flat)
            continue
        if key not in keys:
            raise _refusal(path, text, key, "unknown key", _instead(key, keys))
        values[key] = _checked(path, text, keys[key], value)
    for setting in settings:
        key, value = _setting(setting, keys)
        values[key] = value
    if store_mib is not None:
        values["store_mib"] = _checked(path, text, keys["store_mib"], store_mib)
    store = int(values.get("store_mib", keys["store_mib"].preset))
    entries = int(values.get("log_entries", keys["log_entries"].preset))
    counted = "controller.count" if "controller.count" in keys else "count"
    count = int(values.get(counted, keys[counted].preset))
    flash = _FLASH_MIB if values.get("ata.media") == "flash" else 0
    pool_mib = count * (store + (entries * model.log_entry_bytes >> 20) + 1 + flash)
    loaded = Profile(path.stem, path, values, title(text), pool_mib, driver, count)
    conflict = model.conflict(loaded.flat())
    if conflict:
        raise _contradiction(loaded, text, settings, *conflict)
    return loaded


def _parsed(path: Path, text: str) -> dict[str, object]:
    """The flat keys and values of a profile."""
    try:
        return _flatten(tomllib.loads(text))
    except ValueError as error:  # if a number has too many digits, Python raises the error, not TOML
        raise _malformed(path, text, str(error)) from None
    except RecursionError:
        raise _malformed(path, text, "its values are nested too deeply") from None


def _text_of(path: Path) -> str:
    content = path.read_bytes()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LabError(
            f"{path}:{line}", f"byte {content[error.start]:#04x} is not UTF-8", "A profile is text: TOML."
        ) from None


def _malformed(path: Path, text: str, why: str) -> LabError:
    """The parser's message, with the line that it refers to, because the line contains the key."""
    lines = text.splitlines()
    match = re.search(r" \(at (?:line ([0-9]+), column [0-9]+|end of document)\)$", why)
    number = int(match[1] or len(lines)) if match else 0
    if not match or not 0 < number <= len(lines):
        return LabError(f"profile {path}", why, "Correct the TOML syntax there.")
    return LabError(
        f"{path}:{number}: {lines[number - 1].strip()}", why[: match.start()], "Correct the TOML syntax there."
    )


def _contradiction(profile: Profile, text: str, settings: Sequence[str], key: str, why: str) -> LabError:
    """The message about contradicting values, with the line of the value to change, or that it is not set."""
    todo = "Change this value or the one that it contradicts. To list the keys of the profile: raidctl lab show"
    if any(setting.partition("=")[0].strip() == key for setting in settings):
        return LabError(f"--set {key}", why, todo)
    line = line_of(text, key)
    if line is None:
        return LabError(f"{profile.path}: {key} (not set)", why, "Set it, or change the value that it contradicts.")
    return _refusal(profile.path, text, key, why, todo)


def _check_fit(path: Path, text: str, key: str, value: object, flat: dict[str, object]) -> None:
    """Check the table [fit]: for each fitted constant, the published figure. The model does not get this table."""
    if key.removeprefix(_FIT) not in flat:
        raise _refusal(path, text, key, "the profile does not set this constant", "Name a constant that it sets.")
    if not isinstance(value, str) or not re.fullmatch(r"raid[05] [0-9]+ [a-z]+", value):
        raise _refusal(
            path,
            text,
            key,
            f"{value!r} does not name a published figure",
            'Write array, test and metric, such as "raid0 7 read".',
        )


def _named(setting: str, drivers: Iterable[str], model: Model) -> None:
    """Refuse a setting whose key no device of `drivers` has."""
    name = setting.partition("=")[0].strip()
    keys = {key: known for driver in drivers for key, known in model.keys[driver].items()}
    others = [driver for driver, known in model.keys.items() if name in known]
    if "=" in setting and name not in keys and others:
        why = f"a key of {', '.join(others)}, not of {', '.join(drivers)}"
        raise LabError(f"--set {name}", why, "Use --profile with a profile of that device.")
    if "=" in setting and name not in keys:
        raise LabError(f"--set {name}", "unknown key", _instead(name, keys))


def _setting(setting: str, keys: dict[str, Key]) -> tuple[str, str]:
    """Check --set KEY=VALUE like a line of a profile."""
    name, separator, text = (part.strip() for part in setting.partition("="))
    if not separator:
        raise LabError(
            f"--set {setting}", "not KEY=VALUE", "Write the key as in a profile, with its table, such as array.drives=4"
        )
    if name not in keys:
        raise LabError(f"--set {name}", "unknown key", _instead(name, keys))
    number = keys[name].kind == "number" and re.fullmatch(r"[0-9]+|0x[0-9a-fA-F]+", text)
    value = _as_model_reads(keys[name], int(text, 0) if number else text)
    if value is None:
        raise LabError(f"--set {name}", f"{text!r} is not allowed", f"Allowed: {keys[name].allowed()}.")
    return name, value


def title(text: str) -> str:
    """The first comment except the licence."""
    for line in text.splitlines():
        if line.startswith("#") and "SPDX" not in line:
            return line.lstrip("# ").strip()
    return ""


def not_modelled(text: str) -> str:
    """The sentence of the profile's comment that lists missing features of the model; empty if there is none."""
    comment = " ".join(line.lstrip("# ").strip() for line in text.splitlines() if line.startswith("#"))
    match = re.search(r"Not modelled: [^.]*\.", comment)
    return match[0] if match else ""


def _flatten(table: dict[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def _checked(path: Path, text: str, key: Key, value: object) -> str:
    """The value in the model's form. LabError with the line of the value if it is invalid."""
    checked = _as_model_reads(key, value)
    if checked is None:
        raise _refusal(path, text, key.name, f"{value!r} is not allowed", f"Allowed: {key.allowed()}.")
    return checked


def _as_model_reads(key: Key, value: object) -> str | None:
    """The value in the model's form; None if the model would refuse it."""
    if key.kind == "number" and isinstance(value, int):
        if key.low <= int(value) <= key.high:
            return str(int(value))
    elif isinstance(value, str) and key.kind == "choice" and value in key.choices:
        return value
    elif isinstance(value, str) and key.kind == "text":
        if len(value) < key.high and value.isascii() and not re.search(r'[,=_"\\\n]', value):
            return value.replace(" ", "_")
    return None


def _instead(key: str, keys: dict[str, Key]) -> str:
    table = key.rpartition(".")[0]
    same = [name for name in keys if name.rpartition(".")[0] == table]
    if not same:
        tables = sorted({name.partition(".")[0] for name in keys if "." in name})
        return f"Unknown table [{table}]. Known tables: {', '.join(tables)}."
    close = difflib.get_close_matches(key, same, 1)
    hint = f"Did you mean {close[0]}? " if close else ""
    others = "" if table else "; all others are TABLE.KEY, such as drive.sectors"
    where = f"in [{table}]" if table else "without a table"
    return f"{hint}Keys {where}: {', '.join(same)}{others}. For the keys that a profile sets: raidctl lab show PROFILE"


def _refusal(path: Path, text: str, key: str, why: str, todo: str) -> LabError:
    line = line_of(text, key)
    where = f"{path}:{line}" if line else str(path)
    return LabError(f"{where}: {key}", why, todo)


def line_of(text: str, key: str) -> int | None:
    """The number of the line that sets a flat key, from 1; None if there is no such line."""
    table = ""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        header = re.match(r"\s*\[([^]]+)\]", line)
        setting = re.match(r"\s*([\w.-]+)\s*=", line)
        if header:
            table = f"{header[1].strip()}."
        elif setting and table + setting[1] == key:
            return number
    # The key is not in its plain form: it is quoted, in an inline table, or in a list of tables.
    table, _, name = key.rpartition(".")
    places = (rf"\b{re.escape(table)}\W.*\b{re.escape(name)}\b[\"']?\s*=", rf"\b{re.escape(name)}\b[\"']?\s*=",
              rf"\[\[\s*{re.escape(name)}\s*\]\]")  # fmt: skip
    for place in places:
        numbers = [number for number, line in enumerate(lines, 1) if re.search(place, line)]
        if numbers:
            return numbers[-1]
    return None


def explain(path: Path, model: Model) -> list[tuple[str, str, str]]:
    """(key, value, comment) of each key in the file, in the order of the file."""
    load(str(path), model)
    text = _text_of(path)
    rows = []
    table, above = "", ""
    for line in text.splitlines():
        header = re.match(r"\s*\[([^]]+)\]", line)
        setting = re.match(r"\s*([\w.-]+)\s*=\s*(\"[^\"]*\"|[^#]*?)\s*(?:#\s*(.*))?$", line)
        if header:
            table, above = f"{header[1].strip()}.", ""
        elif line.lstrip().startswith("#"):
            above = f"{above} {line.lstrip('# ').strip()}".strip()
        elif setting:
            rows.append((table + setting[1], setting[2], setting[3] or above))
            above = ""
        else:
            above = ""
    return rows
