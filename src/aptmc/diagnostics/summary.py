"""The summary of a run: one row per parameter, as a table for people and as numbers for code."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from html import escape
from typing import TYPE_CHECKING, cast, final

import numpy as np
import numpy.typing as npt

from aptmc.diagnostics.autocorrelation import (
    FEWEST_DRAWS,
    RELIABLE_LENGTH,
    Floats,
    Series,
    as_runs,
    estimate_autocorrelation_time,
)
from aptmc.diagnostics.convergence import normal_scores, r_hat
from aptmc.diagnostics.error_of_mean import Timeline, effective_draws, spread_of_mean
from aptmc.diagnostics.states import states_in
from aptmc.errors import InputError

if TYPE_CHECKING:
    import pandas

NAN = float("nan")
THOUSAND = 1000.0  # from here on, numbers in sentences have commas
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
        time = f"{_elapsed_text(self.elapsed)} {words}"
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


def summarise(
    draws: Mapping[str, Series],
    elapsed: float,
    *,
    unit: str = "s",
    times: Sequence[Floats] | None = None,
    apart: int = 0,
    weights: Sequence[Floats] | None = None,
    may_be_missing: bool = False,
) -> Summary:
    """Summarise the draws of each parameter, one series per chain on the coldest rung.

    Chains may differ in length; all draws count but for r-hat, for which chains are cut to the
    shortest, and 1,024 of them are compared where there are more. All chains have one target, so
    the autocorrelation is taken around their common mean: chains that disagree then show as a small
    effective sample size.

    :param unit: of `elapsed`
    :param times: of the draws, an array for each chain: then mcse and the effective sizes know of
        what chains hand to each other. Without, they are taken to go on side by side
    :param apart: how many chains hand states to each other, if not all, as `Timeline` has it
    :param weights: of the draws, an array for each chain: they count for mean, sd, quantiles, mcse
        and ess. Bulk, tail and r-hat are those of the draws without them
    :param may_be_missing: NaN is no value of a parameter, but says that a draw does not have it

    >>> rng = np.random.default_rng(1)
    >>> summary = summarise({"x": [rng.normal(size=1000), rng.normal(size=990)]}, elapsed=2.0)
    >>> round(summary["x"].sd, 1), summary["x"].reliable
    (1.0, True)
    >>> print(summary)
         mean     sd      q5    q95   mcse   ess  ess/s    iat  bulk ess  tail ess  r-hat
    x  -0.014  1.008  -1.623  1.682  0.024  1707    853  0.967      1711      1184  1.004
    1,990 draws on 2 chains of the coldest rung in 2.00 s
    """
    if not (math.isfinite(elapsed) and elapsed >= 0):
        raise InputError(f"elapsed must be finite and not negative, got {elapsed!r}")
    rows = {}
    series_of_all = [cast(Sequence[Floats], series) for series in draws.values()]
    states = states_in(series_of_all) if times is not None else None
    timeline: Timeline | None = None  # the same for all parameters of a run
    for name, series in draws.items():
        try:
            known, same, has_all = times, states, True
            if may_be_missing:
                there = [~np.isnan(chain) for chain in cast(Sequence[Floats], series)]
                has_all = all(has.all() for has in there)
                if not has_all:
                    series, known = _those_there(cast(Sequence[Floats], series), times, there)
                    same = None if states is None else states[np.concatenate(there)]
            chains = as_runs(series)
            count = sum(chain.size for chain in chains)
            if timeline is None or timeline.draws != count or not has_all:
                known = None if known is None else [each for each in known if each.size > 0]
                lengths = [chain.size for chain in chains]
                timeline = Timeline(lengths, known, apart=apart, states=same)
            if weights is None:
                rows[name] = _summarise_parameter(chains, timeline, elapsed)
            else:
                shares = as_runs(list(weights))
                rows[name] = _summarise_weighted(chains, shares, timeline, elapsed)
        except InputError as error:
            raise InputError(f"parameter {name!r}: {error}") from error
    return Summary(rows, elapsed, unit)


def _those_there(
    series: Sequence[Floats],
    times: Sequence[Floats] | None,
    there: Sequence[npt.NDArray[np.bool_]],
) -> tuple[list[Floats], Sequence[Floats] | None]:
    """The draws that have a parameter, and when they were made."""
    if times is not None:
        times = [each[has] for each, has in zip(times, there, strict=True)]
    return [chain[has] for chain, has in zip(series, there, strict=True)], times


def _summarise_parameter(
    chains: list[Floats], timeline: Timeline, elapsed: float
) -> ParameterSummary:
    pooled = np.concatenate(chains) if chains else np.empty(0)
    mean, sd = _mean_and_sd(pooled)
    low, high = np.quantile(pooled, [0.05, 0.95]) if pooled.size > 0 else (NAN, NAN)
    iat, reliable, mcse, ess = NAN, False, NAN, NAN
    if max((chain.size for chain in chains), default=0) >= FEWEST_DRAWS:
        iat = estimate_autocorrelation_time(chains, mean=mean).value
        spread = spread_of_mean([chain - mean for chain in chains], timeline)
        mcse, reliable = math.sqrt(spread.variance), spread.reliable
        ess = (sd / mcse) ** 2 if mcse > 0.0 else pooled.size / iat
    shortest = min((chain.size for chain in chains), default=0)
    table = [chain[:shortest] for chain in _compared(chains)]
    return ParameterSummary(
        mean=mean,
        sd=sd,
        q5=float(low),
        q95=float(high),
        mcse=mcse,
        ess=ess,
        ess_per_second=ess / elapsed if elapsed > 0 else NAN,
        iat=iat,
        ess_bulk=_bulk(chains, timeline),
        ess_tail=_tail(chains, timeline, (low, high)),
        r_hat=r_hat(table),
        draws=pooled.size,
        chains=len(chains),
        reliable=reliable,
    )


def _compared(chains: list[Floats]) -> list[Floats]:
    """The chains for r-hat: all, or some of very many, evenly chosen."""
    if len(chains) <= MOST_COMPARED:
        return chains
    places = np.linspace(0, len(chains) - 1, MOST_COMPARED).round().astype(np.int64)
    return [chains[place] for place in places.tolist()]


def _bulk(chains: list[Floats], timeline: Timeline) -> float:
    """Effective draws for the ranks of all draws, as normal scores."""
    if max((chain.size for chain in chains), default=0) < FEWEST_DRAWS:
        return NAN
    ends = np.cumsum([chain.size for chain in chains])[:-1]
    return effective_draws(np.split(normal_scores(np.concatenate(chains)), ends), timeline)


def _tail(chains: list[Floats], timeline: Timeline, ends: tuple[float, float]) -> float:
    """Effective draws for how many lie below a quantile; the smaller of two.

    Of whole numbers there may be none beyond a quantile, which then tells nothing.
    """
    below = [[(chain <= end).astype(np.float64) for chain in chains] for end in ends]
    telling = [sides for sides in below if not all(side.all() for side in sides)]
    return min((effective_draws(sides, timeline) for sides in telling or below), default=NAN)


def _summarise_weighted(
    chains: list[Floats], weights: list[Floats], timeline: Timeline, elapsed: float
) -> ParameterSummary:
    plain = _summarise_parameter(chains, timeline, elapsed)
    if not chains:
        return plain
    pooled, shares = np.concatenate(chains), np.concatenate(weights)
    shares = shares / shares.mean()
    mean = float((shares * pooled).mean())
    sd = math.sqrt(float((shares * (pooled - mean) ** 2).mean()))
    low, high = weighted_quantiles(pooled, shares, [0.05, 0.95])
    # A mean with weights is a ratio of two means; its error is that of this series, whose mean is 0
    # (the delta method).
    scale = np.concatenate(weights).mean()
    errors = [
        weight / scale * (chain - mean) for chain, weight in zip(chains, weights, strict=True)
    ]
    iat, reliable, mcse = NAN, False, NAN
    if max(chain.size for chain in chains) >= FEWEST_DRAWS:
        iat = estimate_autocorrelation_time(errors, mean=0.0).value
        spread = spread_of_mean(errors, timeline)
        mcse, reliable = math.sqrt(spread.variance), spread.reliable
    ess = (sd / mcse) ** 2 if mcse > 0.0 else NAN
    return replace(
        plain,
        mean=mean,
        sd=sd,
        q5=float(low),
        q95=float(high),
        mcse=mcse,
        ess=ess,
        ess_per_second=ess / elapsed if elapsed > 0 else NAN,
        iat=iat,
        reliable=reliable,
    )


def weighted_quantiles(values: Floats, weights: Floats, levels: Sequence[float]) -> Floats:
    """The least values up to which the weights make at least these shares of their sum.

    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0]), [0.5, 1.0])
    array([1., 2.])
    """
    order = np.argsort(values)
    shares = np.cumsum(weights[order])
    places = np.searchsorted(shares, np.asarray(levels) * shares[-1] * (1.0 - 1e-12))
    found: Floats = values[order][np.minimum(places, values.size - 1)]
    return found


def _mean_and_sd(values: Floats) -> tuple[float, float]:
    if values.size == 0:
        return NAN, NAN
    # Rounding would move the mean of a constant off it.
    constant = values.min() == values.max()
    mean = float(values[0] if constant else values.mean())
    if values.size == 1:
        return mean, NAN
    return mean, 0.0 if constant else float(values.std(ddof=1))


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


def _elapsed_text(elapsed: float) -> str:
    is_whole = THOUSAND <= elapsed < 1e7
    return f"{elapsed:,.0f}" if is_whole else _significant(elapsed)


def _aligned(column: Sequence[str]) -> list[str]:
    """A title and numbers as text of one width, decimal points in line."""
    title, *cells = column
    parts = [cell.partition(".") for cell in cells]
    whole = max((len(before) for before, _, _ in parts), default=0)
    rest = max((len(point + after) for _, point, after in parts), default=0)
    width = max(whole + rest, len(title))
    numbers = [before.rjust(whole) + (point + after).ljust(rest) for before, point, after in parts]
    return [title.rjust(width), *(number.rjust(width) for number in numbers)]
