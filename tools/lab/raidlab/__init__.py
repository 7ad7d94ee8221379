# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab: a simulated array under a real kernel. Each folder uses those before it in this list (tests/lint/layers).

base/ apt/ array/ kernel/ uml/ vm/ verbs/
"""
