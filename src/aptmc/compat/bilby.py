"""A sampler of bilby, which finds it as a plug-in: `bilby.run_sampler(..., sampler="aptmc")`.

bilby is imported when it asks for the class; its samplers derive from one of its own.
"""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from aptmc.backends import Backend, InProcess, Processes
from aptmc.compiled import Floats, FloatTable
from aptmc.errors import InputError, StopReason
from aptmc.problem import Prior, Tempered
from aptmc.result.run import Run
from aptmc.sampling import open, resume, sample

TRIED = 5  # stored draws at which a likelihood is compared with what it was
IMPOSSIBLE = -1e300  # bilby says -1.8e308 where the likelihood is zero
ENDED_FROM_OUTSIDE = (StopReason.INTERRUPTED, StopReason.TERMINATED)

SETTINGS = {
    "budget": "10 min",
    "ladder": "auto",
    "kernel": "auto",
    "schedule": None,
    "pools": None,
    "on": None,
    "warmup": "auto",
    "store": None,
    "progress": None,
    "resume": True,
    "seed": None,
    "thin": "auto",
}


def __getattr__(name: str) -> Any:
    if name == "Aptmc":
        return sampler_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@lru_cache
def sampler_class() -> type:
    """The class, for which bilby has to be there."""
    try:
        from bilby.core.sampler.base_sampler import Sampler
    except ImportError:
        raise InputError("this is a plug-in of bilby: pip install 'aptmc[bilby]'") from None

    class Aptmc(Sampler):  # type: ignore[misc]
        """Anytime parallel tempering, for `bilby.run_sampler(..., sampler="aptmc")`.

        Its arguments are those of `aptmc.sample`. `npool` processes compute, unless `on` says who.
        The prior is sampled on the unit cube, as nested samplers do it, so that any of bilby's will
        do; the evidence comes with its Monte Carlo error.

        Parameters
        ----------
        budget: float | str
            When to stop: seconds, or words such as "10 min", the default
        thin: int | str
            Keep one draw of so many in `result.samples`; "auto": as many as are effective
        store: str | None
            A folder in which the run is kept while it goes on, and from which it goes on if it is
            there already, unless resume=False
        """

        sampler_name = "aptmc"
        sampling_seed_key = "seed"
        default_kwargs = SETTINGS

        def run_sampler(self) -> Any:
            """Sample, and hand the draws and the evidence to bilby."""
            said = dict(self.kwargs)
            thin, store, budget = (said.pop(name) for name in ("thin", "store", "budget"))
            goes_on = said.pop("resume") and store is not None and Path(store).exists()
            on = said.pop("on") or _processes(self.npool)
            problem = problem_of(self)
            if goes_on:
                check_same(problem, open(store))
                run = resume(store, problem, budget=budget, on=on, force=True)
            else:
                run = sample(problem, budget=budget, on=on, store=store, keep="all", **said)
            if run.stopped in ENDED_FROM_OUTSIDE:
                raise SystemExit(self.exit_code)
            return give(run, self, thin)

    Aptmc.__module__ = __name__
    return Aptmc


def problem_of(sampler: Any) -> Tempered:
    """What bilby wants to have sampled, on the unit cube, each parameter under its name."""
    import scipy.stats

    names = list(sampler.search_parameter_keys)
    if not names:
        raise InputError("there is nothing to sample: all priors of bilby are fixed")
    cube = {f"u_{place}": scipy.stats.uniform(0, 1) for place in range(len(names))}
    return Tempered(partial(_log_likelihood, sampler), Prior(**cube))


def _log_likelihood(sampler: Any, point: Floats) -> float:
    theta = sampler.prior_transform(point)
    if sampler.constraint_parameter_keys:
        named = dict(zip(sampler.search_parameter_keys, theta, strict=True))
        if not sampler.priors.evaluate_constraints(named):
            return -np.inf
    found = float(sampler.log_likelihood(theta))
    return found if found > IMPOSSIBLE else -np.inf


def check_same(problem: Tempered, run: Run) -> None:
    """Refuse to go on with a run of another likelihood or other priors.

    Likelihoods of bilby change while they are used, so that no checksum tells two of them apart;
    what they give does.
    """
    rows = np.concatenate([draws.state[-TRIED:] for draws in run.chains()])
    for row in rows[-TRIED:]:
        point = row[: problem.dimension]
        kept, now = float(row[problem.dimension]), float(problem.log_likelihood(point.copy()))
        if not np.isclose(kept, now, rtol=1e-6, atol=1e-6):
            raise InputError(
                f"the log likelihood has changed since {run.path} was begun: it was {kept:.6g} "
                f"where it is {now:.6g} now; name another store, or use resume=False and remove it"
            )


def give(run: Run, sampler: Any, thin: int | str) -> Any:
    """Put what a run has found into the result of a sampler of bilby's."""
    if not any(len(draws.state) for draws in run.chains()):
        raise InputError(
            f"the run has no draws that bilby could show, {run.stopped}: give a longer budget"
        )
    result, step = sampler.result, _thinned(run) if thin == "auto" else int(thin)
    chains = run.chains()
    dimension = len(sampler.search_parameter_keys)
    cube = np.concatenate([draws.state[::step, :dimension] for draws in chains])
    result.samples = _constrained(sampler, cube)
    values = [np.array(chain[::step]) for chain in _log_likelihoods(run)]
    result.log_likelihood_evaluations = np.concatenate(values)
    evidence = run.log_evidence()
    result.log_evidence, result.log_evidence_err = evidence.value, evidence.standard_error
    result.num_likelihood_evaluations = int(run.statistics["work"].sum())
    result.sampler_output = run.summary().to_dict()
    sampler.calc_likelihood_count()
    return result


def _log_likelihoods(run: Run) -> list[Floats]:
    """Of the draws of each chain on the coldest rung."""
    return [draws.state[:, run.settings.problem.dimension] for draws in run.chains()]


def _thinned(run: Run) -> int:
    """One of how many draws is kept, so that those are nearly independent."""
    rows = list(run.summary().without_notes().values())
    effective = min(np.nan_to_num(row.ess, nan=1.0) for row in rows)
    return max(int(rows[0].draws / max(effective, 1.0)), 1)


def _constrained(sampler: Any, cube: FloatTable) -> FloatTable:
    """bilby's parameters at points of the unit cube, one row each."""
    return np.array([sampler.prior_transform(point) for point in cube]).reshape(len(cube), -1)


def _processes(count: int | None) -> Backend:
    return InProcess() if count in (None, 1) else Processes(count)
