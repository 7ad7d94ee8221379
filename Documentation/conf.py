# SPDX-License-Identifier: GPL-2.0-or-later
"""How Sphinx renders this directory: make html."""

project = "raidtrace"
author = "the raidtrace authors"
root_doc = "index"
exclude_patterns = ["man", "netlink", "figures", "sweeps", "examples"]
html_theme = "alabaster"
html_title = project
html_show_copyright = False
html_show_sphinx = False
highlight_language = "none"  # commands, not Python
html_static_path = ["_static"]
html_theme_options = {
    "page_width": "1240px",
    "body_max_width": "none",
    "code_font_size": "0.8em",
    "description": "why your disk is fast or slow",
}
smartquotes = False
nitpicky = True
