"""For mkdocs: code blocks that CI does not run are code blocks all the same.

The documents mark them ```python no-run, which pages on the web show as they should. The Markdown
of mkdocs knows no second word there, and takes the block, and all up to the next one, for text.
"""

from __future__ import annotations

import re
from typing import Any


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Leave out what only CI reads."""
    return re.sub(r"^( *```python) no-run$", r"\1", markdown, flags=re.MULTILINE)
