"""The table: how far from the reference, and effective draws for each processor second."""

from __future__ import annotations

from typing import Any

HEAD = ["model", "language", "by", "means", "sds", "r-hat", "effective draws"]
HEAD += ["processor seconds", "a second", "to get ready", "wall seconds"]
# As they call themselves.
WRITTEN = {"pymc": "PyMC", "numpyro": "NumPyro", "stan": "Stan", "pm.sample": "`pm.sample`"}
WRITTEN |= {"aptmc, EllipticalSlice()": "aptmc, `EllipticalSlice()`"}


def table(found: dict[tuple[str, str, str], dict[str, Any]]) -> str:
    """In Markdown, a row for each posterior, language and sampler."""
    lines = [f"| {' | '.join(HEAD)} |", f"|{' --- |' * len(HEAD)}"]
    above = ""
    for (name, language, who), one in found.items():
        numbers = _numbers(one)
        words = [WRITTEN.get(word, word) for word in (language, who)]
        model = name.replace("_", " ") if name != above else ""
        above = name
        lines.append(f"| {' | '.join([model, *words, *numbers])} |".replace("|  |", "| |"))
    return "\n".join(lines)


def _numbers(one: dict[str, Any]) -> list[str]:
    if "given_up" in one:
        return ["", "", "", "", f"more than {one['given_up']}", "", "", ""]
    rate = one["effective"] / one["sampling"]
    return [
        f"{one['mean_error']:,.1f}", f"{one['sd_error']:,.1f}", f"{one['r_hat']:.3f}",
        f"{one['effective']:,.0f}", f"{one['sampling']:.1f}",
        f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}", f"{one['ready']:.1f}",
        f"{one['wall']:.0f}",
    ]  # fmt: skip
