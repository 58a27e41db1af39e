"""The findings about the rows, at the head of the report."""

from __future__ import annotations

import re
from html import escape

from thetahat.evaluation.findings.finding import Finding, Findings

_OPTION = re.compile(r"(--[a-z-]+)")
"""An option of the command line, which must not be broken at its hyphens."""


def findings_section(findings: Findings) -> str:
    """The findings by severity; notes are folded away where there is something worse."""
    if not len(findings):
        return (
            '<section class="findings"><h2>Findings</h2><p class="quiet">Nothing was found in the '
            "rows that makes the scores unreliable.</p></section>"
        )
    serious = [*findings.severe, *findings.warnings]
    body = "".join(map(_finding, serious))
    notes = "".join(map(_finding, findings.notes))
    if notes and serious:
        count = len(findings.notes)
        label = f"{count} note{'s' * (count != 1)}"
        notes = f"<details><summary>{label}</summary>{notes}</details>"
    return (
        f'<section class="findings"><h2>Findings <span class="quiet">{escape(findings.summary)}'
        f"</span></h2>{body}{notes}</section>"
    )


def _finding(found: Finding) -> str:
    where = found.where(first_row=1)
    place = f'<p class="quiet">{escape(where)}</p>' if where else ""
    action = _OPTION.sub(r"<code>\1</code>", escape(found.action))
    return (
        f'<div class="finding {found.severity}"><p><span class="tag">{found.severity}</span> '
        f"{escape(found.check)}: <b>{escape(found.what)}</b></p><p>{escape(found.why)}</p>"
        f"<p>→ {action}</p>{place}</div>"
    )
