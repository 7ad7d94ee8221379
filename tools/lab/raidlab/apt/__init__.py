# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's packages without installing them: which sources there are, kernel sources, unpacked packages."""
