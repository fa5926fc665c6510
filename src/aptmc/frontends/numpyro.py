"""NumPyro's models as problems: `aptmc.from_numpyro`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aptmc.errors import InputError
from aptmc.frontends.model_problem import OBSERVATIONS, Shown, TemperedModel, check_observations
from aptmc.frontends.numpyro_code import machine_code
from aptmc.frontends.numpyro_sites import sites_of
from aptmc.frontends.numpyro_split import Split
from aptmc.frontends.observations import Observations, single_terms
from aptmc.frontends.optional import library
from aptmc.jax_programs.writer import Untranslatable


def from_numpyro(model: Callable[..., Any], /, *args: Any, **kwargs: Any) -> TemperedModel:
    """A model of NumPyro as a problem: the prior times a power of the likelihood.

    Latent sites are the prior, from which hot chains draw; observed sites and factors are the
    likelihood. Density, gradient and draws are traced by JAX once, here, and compiled by numba into
    the moves of the sampler, so that workers have no need of JAX. They have 64 bits if JAX has
    them in this process: `numpyro.enable_x64()`. Draws come back as `MCMC.get_samples` gives them:
    constrained, with names, deterministic sites, and plates as dims.

    Needs NumPyro: `pip install 'aptmc[numpyro]'`.

    :param model: a function with observed sites; all that follows is what it is called with

    >>> import aptmc, numpyro, numpyro.distributions as dist
    >>> numpyro.enable_x64()
    >>> def model(y):
    ...     mean = numpyro.sample("mean", dist.Normal(0, 10))
    ...     numpyro.sample("y", dist.Normal(mean, 1), obs=y)
    >>> aptmc.from_numpyro(model, 2.5)
    <aptmc.TemperedModel of mean>
    """
    library("numpyro", extra="numpyro", asked_by="from_numpyro")
    is_function = callable(model)
    if not is_function:
        is_sampler = hasattr(model, "sampler") or hasattr(model, "model")
        got = f"{type(model).__name__}(...): give the model itself" if is_sampler else f"{model!r}"
        raise InputError(f"model must be a function, as NumPyro's models are, got {got}")
    sites = sites_of(model, args, kwargs)
    split = Split(model, args, kwargs, sites)
    notes = list(split.notes)
    try:
        density = machine_code("values", split.density())
        slopes = split.gradient()
        gradient = None if slopes is None else machine_code("weighted", slopes)
        draw = machine_code("drawn", split.draw())
        show = machine_code("shown", split.shown())
    except Untranslatable as error:
        raise InputError(
            f"this model has {error}, which cannot be compiled for the sampler: write the density "
            "as a function of JAX, for aptmc.Tempered(log_likelihood, prior), which then calls JAX"
        ) from error
    parameters = tuple(site.variable for site in sites.latent)
    derived = tuple(site.variable for site in sites.deterministic)
    shown = Shown(
        tuple(site.coordinates for site in sites.latent),
        (*parameters, *derived),
        show,
        len(parameters),
    )
    problem = TemperedModel(
        shown, density, gradient, draw, notes=notes, data_groups=sites.data_groups
    )
    check_observations(problem)
    known = {site.variable.name: site.variable for site in sites.observed}
    terms = [single_terms(known[name], shape) for name, shape in split.shapes_of_observations()]
    OBSERVATIONS[problem] = Observations(
        terms, lambda: machine_code("values", split.of_observations())
    )
    return problem
