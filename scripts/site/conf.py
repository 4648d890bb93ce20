"""How Sphinx makes the site; scripts/site.sh calls it."""

import re
from pathlib import Path

from sphinx.domains.c import CDomain

HEADER = Path(__file__).resolve().parents[2] / "include" / "heddle" / "heddle.h"

project = "Heddle"
release = re.search(r'HEDDLE_VERSION_STRING "([^"]+)"', HEADER.read_text())[1]
extensions = ["myst_parser"]
html_theme = "furo"
html_title = f"{project} {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "monokai"

# Headings are linked to as on the pages of a forge.
myst_heading_anchors = 4

# Names of the C interface are links, and a name that nothing declares is a mistake.
nitpicky = True
nitpick_ignore = [("c:identifier", name) for name in
                  ("int32_t", "uint8_t", "uint32_t", "uint64_t", "MPI_Comm", "UINT32_MAX", "UINT64_MAX")]
add_function_parentheses = False
c_maximum_signature_line_length = 60
toc_object_entries_show_parents = "hide"


class Names(CDomain):
    """What a search finds: parameters are found with their functions."""

    def get_objects(self):
        return (found for found in super().get_objects() if found[2] != "functionParam")


def setup(app):
    app.add_domain(Names, override=True)
