# SPDX-License-Identifier: GPL-2.0-or-later
"""Published tables as CSV, and what reads them."""
