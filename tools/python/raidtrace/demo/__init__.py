# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl demo: its cells, its table, and whether what was counted is true."""
