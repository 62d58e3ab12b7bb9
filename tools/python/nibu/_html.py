"""What notebooks show of a result."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nibu._results import Result


def result_html(result: Result) -> str:
    """Returns a list of the translations and, where it was asked for, a table of the best one's attention."""
    parts = [
        f"<li>{html.escape(each.text)} <small>(score {each.score:.3f})</small></li>" for each in result.hypotheses
    ]
    shown = f"<ol>{''.join(parts)}</ol>" if len(parts) > 1 else f"<p>{html.escape(result.text)}</p>"
    return f"<div>{shown}{_attention_html(result)}</div>"


def _attention_html(result: Result) -> str:
    attention = result.hypotheses[0].attention_rows  # lists, since NumPy may be missing
    if not attention:
        return ""
    rows, columns = len(attention), len(attention[0])
    source = result.source_labels()
    target = result.tokens if len(result.tokens) == rows else result.text.split()
    if len(target) != rows:
        target = [str(row) for row in range(rows)]
    lines = ["<tr><th></th>" + "".join(_heading(label, "writing-mode:vertical-rl") for label in source) + "</tr>"]
    for row, label in enumerate(target):
        cells = "".join(_cell(attention[row][column]) for column in range(columns))
        lines.append(f"<tr>{_heading(label, 'text-align:right')}{cells}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _heading(label: str, style: str) -> str:
    return f'<th style="{style};padding:1px 4px">{html.escape(label)}</th>'


def _cell(weight: float) -> str:
    # A darker blue for more attention; the number itself is shown when one points at the cell.
    return f'<td title="{weight:.3f}" style="width:1.2em;background:rgba(31,119,180,{weight:.3f})"></td>'
