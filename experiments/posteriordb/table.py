"""The table: how far from the reference, and effective draws for each processor second."""

from __future__ import annotations

from typing import Any

HEAD = ["model", "language", "by", "means", "sds", "r-hat", "effective draws"]
HEAD += ["processor seconds", "a second", "to get ready"]


def table(found: dict[tuple[str, str, str], dict[str, Any]]) -> str:
    """In Markdown, a row for each posterior, language and sampler."""
    lines = [f"| {' | '.join(HEAD)} |", f"|{' --- |' * len(HEAD)}"]
    for (name, language, who), one in found.items():
        rate = one["effective"] / one["sampling"]
        numbers = [f"{one['mean_error']:.1f}", f"{one['sd_error']:.1f}", f"{one['r_hat']:.3f}"]
        numbers += [f"{one['effective']:,.0f}", f"{one['sampling']:.1f}", f"{rate:,.0f}"]
        lines.append(
            f"| {' | '.join([name, language, who, *numbers, format(one['ready'], '.1f')])} |"
        )
    return "\n".join(lines)
