# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl lab's verbs, their options, and what ab and expect compare."""
