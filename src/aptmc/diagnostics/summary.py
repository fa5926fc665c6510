"""The summary of a run: one row per parameter, as a table for people and as numbers for code.

The numbers are computed in `aptmc.diagnostics.summarising`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from html import escape
from typing import TYPE_CHECKING, final

from aptmc.diagnostics.autocorrelation import RELIABLE_LENGTH
from aptmc.errors import InputError

if TYPE_CHECKING:
    import pandas

NAN = float("nan")
# Of very many chains so many tell as well whether all agree, and sorting all draws takes longest.
MOST_COMPARED = 1024


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSummary:
    """What is known about one parameter. Quantities that the draws cannot give are NaN."""

    mean: float
    sd: float
    q5: float
    """The 5 % quantile: the lower end of the 90 % interval."""
    q95: float
    """The 95 % quantile: the upper end of the 90 % interval."""
    mcse: float
    """Monte Carlo standard error of the mean, from all chains on one line of time."""
    ess: float
    """So many independent draws would give the mean as well: (sd / mcse)²."""
    ess_per_second: float
    """`ess` over the elapsed time: per second, or per unit of virtual time."""
    iat: float
    """Integrated autocorrelation time of a chain on its own, in draws, as the paper has it."""
    ess_bulk: float
    """Effective draws for the ranks: how well the centre is known."""
    ess_tail: float
    """Effective draws for the 5 % or the 95 % quantile, whichever has fewer."""
    r_hat: float
    draws: int
    chains: int
    reliable: bool
    """Whether the chains are long enough for `mcse`, `ess` and `iat` to be trusted."""


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Summary(Mapping[str, ParameterSummary]):
    """Rows by parameter name: `summary["x"].mean`. Prints as a table, in notebooks too."""

    rows: Mapping[str, ParameterSummary]
    elapsed: float
    unit: str = "s"
    notes: tuple[str, ...] = ()
    """What else is worth saying: printed under the table, one line each."""
    above: tuple[str, ...] = ()
    """What has to be read first: printed above the table, one line each."""

    def __getitem__(self, name: str) -> ParameterSummary:
        if name not in self.rows:
            raise KeyError(f"no parameter {name!r}: there are {', '.join(self.rows) or 'none'}")
        return self.rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def without_notes(self) -> Summary:
        """The same table without what is said above and below it."""
        return replace(self, notes=(), above=())

    def only(self, names: Sequence[str]) -> Summary:
        """The rows of some parameters."""
        return replace(self, rows={name: self[name] for name in names})

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Plain numbers: parameter name to quantity to value."""
        return {name: asdict(row) for name, row in self.rows.items()}

    def to_dataframe(self) -> pandas.DataFrame:
        """A table of pandas: one row per parameter, unrounded, without what is said beside it."""
        try:
            import pandas
        except ImportError:
            raise InputError("tables need pandas: pip install pandas") from None
        columns = [field.name for field in fields(ParameterSummary)]
        return pandas.DataFrame.from_dict(self.to_dict(), orient="index", columns=columns)

    @property
    def is_empty(self) -> bool:
        """Whether there are no draws to tell anything from."""
        return all(row.draws == 0 for row in self.rows.values())

    def __repr__(self) -> str:
        if self.is_empty and self.above:  # which says why
            return "\n".join(self.above)
        names = ["", *self.rows]
        width = max(len(name) for name in names)
        columns = [[name.ljust(width) for name in names]]
        columns += [_aligned(column) for column in zip(*self._cells(), strict=True)]
        lines = ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
        return "\n".join([*self.above, *lines, *self._lines_below()])

    def _repr_html_(self) -> str:
        if self.is_empty and self.above:
            return "".join(f"<p>{escape(words)}</p>" for words in self.above)
        header, *body = self._cells()
        head = "".join(f"<th>{escape(title)}</th>" for title in header)
        lines = [
            f"<tr><th>{escape(name)}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
            for name, cells in zip(self.rows, body, strict=True)
        ]
        above, notes = (
            "".join(f"<p>{escape(note)}</p>" for note in part)
            for part in (self.above, self._lines_below())
        )
        return (
            f"{above}<table><thead><tr><th></th>{head}</tr></thead>"
            f"<tbody>{''.join(lines)}</tbody></table>{notes}"
        )

    def _cells(self) -> list[list[str]]:
        header = ["mean", "sd", "q5", "q95", "mcse", "ess", f"ess/{self.unit}", "iat"]
        header += ["bulk ess", "tail ess", "r-hat"]
        return [header, *(_cells_of(row) for row in self.rows.values())]

    def _lines_below(self) -> list[str]:
        notes = []
        sizes = {(row.draws, row.chains) for row in self.rows.values()}
        words = self.unit if self.unit == "s" else f"{self.unit}s of time"
        time = f"{_significant(self.elapsed)} {words}"
        for draws, chains in sizes if len(sizes) == 1 else ():
            plural = "" if chains == 1 else "s"
            notes.append(f"{draws:,} draws on {chains} chain{plural} of the coldest rung in {time}")
        if any(row.chains > MOST_COMPARED for row in self.rows.values()):
            notes.append(f"r-hat is that of {MOST_COMPARED:,} of the chains, evenly chosen")
        if any(row.draws > 0 and not row.reliable for row in self.rows.values()):
            notes.append(
                f"* chains shorter than {RELIABLE_LENGTH} autocorrelation times, or a state stayed "
                "for an eighth of the run: iat, ess and mcse are rough, run for longer"
            )
        return [*notes, *self.notes]


def _cells_of(row: ParameterSummary) -> list[str]:
    places = [row.mean, row.sd, row.q5, row.q95, row.mcse]
    # Digits beyond the Monte Carlo error mean nothing: two of its own are kept, the rest follows.
    if row.mcse > 1e-6 and max(abs(row.q5), abs(row.q95)) < 1e7:
        decimals = max(1 - math.floor(math.log10(row.mcse)), 0)
        cells = [f"{value:.{decimals}f}" for value in places]
    else:
        cells = [_significant(value, 4) for value in places]
    cells += [_significant(row.ess), _significant(row.ess_per_second)]
    cells.append(_significant(row.iat) + ("" if row.reliable or row.draws == 0 else "*"))
    cells += [_significant(row.ess_bulk), _significant(row.ess_tail), f"{row.r_hat:.3f}"]
    return cells


def _significant(value: float, digits: int = 3) -> str:
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    exponent = math.floor(math.log10(abs(value)))
    if -5 < exponent < 7:
        return f"{value:.{max(digits - 1 - exponent, 0)}f}"
    return f"{value:.{digits - 1}e}"


def _aligned(column: Sequence[str]) -> list[str]:
    """A title and numbers as text of one width, decimal points in line."""
    title, *cells = column
    parts = [cell.partition(".") for cell in cells]
    whole = max((len(before) for before, _, _ in parts), default=0)
    rest = max((len(point + after) for _, point, after in parts), default=0)
    width = max(whole + rest, len(title))
    numbers = [before.rjust(whole) + (point + after).ljust(rest) for before, point, after in parts]
    return [title.rjust(width), *(number.rjust(width) for number in numbers)]
