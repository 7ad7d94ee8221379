# SPDX-License-Identifier: GPL-2.0-or-later
"""Two sets of figures side by side: of recordings, of sweeps, of published tables."""
