# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lab asks of its kernels, and that an option a kernel has lost is named."""

import sys

import pytest
from conftest import TOP

sys.path.insert(0, str(TOP / "tools" / "lab"))

from raidlab.base.failure import LabError  # noqa: E402
from raidlab.kernel import configuration, linux, variant  # noqa: E402

TEXT = """# a comment
CONFIG_A=y
CONFIG_OLD=m # until 6.12
CONFIG_NEW=y # from 7.3

CONFIG_NAME="-lab"
CONFIG_OFF=n
"""


@pytest.mark.parametrize(
    ("series", "has"), [("6.1", "OLD"), ("6.12", "OLD"), ("6.13", ""), ("7.2", ""), ("7.3", "NEW")]
)
def test_options_come_and_go_with_a_series(series, has):
    assert set(configuration.read(TEXT, series).options) - {"A", "NAME", "OFF"} == {has} - {""}


def test_of_two_lines_the_later_counts():
    assert configuration.read("CONFIG_A=y\nCONFIG_A=n\n", "6.1").options == {"A": "n"}


def test_what_a_kernel_has_as_asked_is_not_lost():
    config = 'CONFIG_A=y\nCONFIG_OLD=m\nCONFIG_NAME="-lab"\n# CONFIG_OFF is not set\n'
    assert not configuration.read(TEXT, "6.1").lost(config)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ('CONFIG_OLD=m\nCONFIG_NAME="-lab"\n', "A"),
        ('# CONFIG_A is not set\nCONFIG_OLD=m\nCONFIG_NAME="-lab"\n', "A"),
        ('CONFIG_A=y\nCONFIG_OLD=y\nCONFIG_NAME="-lab"\n', "OLD"),
        ('CONFIG_A=y\nCONFIG_OLD=m\nCONFIG_NAME="-x"\n', "NAME"),
        ('CONFIG_A=y\nCONFIG_OLD=m\nCONFIG_NAME="-lab"\nCONFIG_OFF=y\n', "OFF"),
    ],
)
def test_what_is_lost_is_named(config, name):
    wanted = configuration.read(TEXT, "6.1")
    assert wanted.lost(config) == [name]
    with pytest.raises(LabError, match=f"lost CONFIG_{name}="):
        wanted.require("building kernel 6.1", config)


@pytest.mark.parametrize("line", ["CONFIG_A", "CONFIG_A=y until 6.1", "CONFIG_A=y # since 6.1", "A=y"])
def test_a_line_that_says_nothing_is_refused(line):
    with pytest.raises(LabError, match="line 2"):
        configuration.read(f"CONFIG_B=y\n{line}\n", "6.1")


@pytest.mark.parametrize("name", ["", *variant.names()])
def test_the_lab_can_read_its_own(name):
    text = variant._config(name).decode() if name else linux.CONFIG.read_text()
    assert configuration.read(text, "6.1").options["LOCALVERSION"] == (f'"-lab-{name}"' if name else '"-lab"')


def test_comments_make_nobody_build_again():
    assert configuration.read(TEXT, "6.1").text() == configuration.read("# another\n" + TEXT, "6.1").text()
