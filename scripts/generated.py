"""Regions of a Markdown page that a program writes: the lines between <!-- MARK --> and <!-- end -->.

Used by scripts/docs_tables.py and bench/tables.py. Needs nothing but Python's standard library.
"""

import re


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table(head, rows):
    return [row(head), "|" + "---|" * len(head), *(row(cells) for cells in rows)]


def with_region(page, mark, text):
    """The page with `text` between <!-- mark --> and the next <!-- end -->; None when it has no such region."""
    marks = re.compile(rf"(<!-- {re.escape(mark)} -->\n)((?!<!-- ).*\n)*?(<!-- end -->)")
    return marks.sub(lambda match: match[1] + text + match[3], page, count=1) if marks.search(page) else None
