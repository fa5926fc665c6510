"""The sites of a model of NumPyro, and what cannot be sampled of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aptmc.errors import InputError
from aptmc.in_words import first_line
from aptmc.problem.variables import Labelled, Variable


class Latent(NamedTuple):
    """A site that is sampled: its name in the model, what users see, and what a chain holds."""

    name: str
    variable: Variable
    coordinates: Variable


class Deterministic(NamedTuple):
    """A site that is computed."""

    variable: Variable


class Observed(NamedTuple):
    """A site that is given: by its name in the model, what users see, and the data."""

    name: str
    data: Labelled

    @property
    def variable(self) -> Variable:
        """What users see."""
        return self.data.variable


class Sites(NamedTuple):
    """The sites of a model, in its order."""

    latent: tuple[Latent, ...]
    deterministic: tuple[Deterministic, ...]
    observed: tuple[Observed, ...]
    names: frozenset[str]  # of these and all others

    @property
    def data_groups(self) -> dict[str, tuple[Labelled, ...]]:
        """The data for users, if there are any."""
        return {"observed_data": tuple(one.data for one in self.observed)} if self.observed else {}


def sites_of(model: Callable[..., Any], args: Any, kwargs: Any) -> Sites:
    """The sites of a model that is run once, or an error that says what it cannot have."""
    from numpyro import handlers

    try:
        seeded = handlers.seed(handlers.substitute(model, substitute_fn=_refuse_flat), 0)
        trace = handlers.trace(seeded).get_trace(*args, **kwargs)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"the model cannot be run with what was given: {type(error).__name__}: "
            f"{first_line(error)}"
        ) from error
    latent, computed, observed, has_likelihood = [], [], [], False
    for name, site in trace.items():
        if site["type"] == "plate" and site["args"][1] not in (None, site["args"][0]):
            raise InputError(
                f"the plate {name!r} takes {site['args'][1]} of {site['args'][0]} places anew in "
                "each evaluation, which gives no density: leave out subsample_size"
            )
        if site["type"] == "param":
            raise InputError(
                f"{name!r} is a parameter to be optimised, numpyro.param: give it a prior with "
                "numpyro.sample, or a value"
            )
        if site["type"] == "deterministic":
            if np.size(site["value"]):
                computed.append(Deterministic(_variable(name, site, np.asarray(site["value"]), 0)))
        elif site["type"] == "sample" and site["is_observed"]:
            has_likelihood = True
            values = np.asarray(site["value"])
            if values.size and not site["infer"].get("is_auxiliary"):
                data = Labelled(_variable(name, site, values, _event(site)), values)
                observed.append(Observed(name, data))
        elif site["type"] == "sample":
            latent.append(_latent(name, site))
    if not latent:
        raise InputError("the model has no latent site: there is nothing to sample")
    if not has_likelihood:
        raise InputError(
            "the model has no observed site and no factor, so that its posterior is its prior: "
            "say obs=..., or give the model the data that it observes"
        )
    return Sites(tuple(latent), tuple(computed), tuple(observed), frozenset(trace))


def _refuse_flat(site: dict[str, Any]) -> None:
    """An error at a site that has no prior to draw from."""
    import numpyro.distributions as dist

    function = site["fn"] if site["type"] == "sample" else None
    while function is not None:
        if isinstance(function, dist.ImproperUniform):
            raise InputError(
                f"the latent site {site['name']!r} has an improper prior, from which nothing can "
                "be drawn: give it a proper one, however wide"
            )
        function = getattr(function, "base_dist", None)


def _latent(name: str, site: dict[str, Any]) -> Latent:
    from numpyro.distributions.transforms import biject_to

    function = site["fn"]
    if getattr(function.support, "is_discrete", False):
        kind = type(getattr(function, "base_dist", function)).__name__
        raise InputError(
            f"the latent site {name!r} is discrete ({kind}), which trajectories cannot move: sum "
            "it out, with dist.MixtureSameFamily say, or write a problem of aptmc with it"
        )
    value = np.asarray(site["value"])
    place = np.asarray(biject_to(function.support).inv(site["value"]))
    held = Variable(_name(name), place.shape)
    return Latent(name, _variable(name, site, value, _event(site)), held)


def _event(site: dict[str, Any]) -> int:
    return len(site["fn"].event_shape)


def _name(name: str) -> str:
    """A name that draws can have."""
    plain = name.replace("/", "_").replace(".", "_")
    try:
        Variable(plain)
    except InputError as error:
        raise InputError(f"{error}: rename the site in the model") from None
    return plain


def _variable(name: str, site: dict[str, Any], value: Any, event: int) -> Variable:
    """A site with its plates as dims."""
    plain = _name(name)
    dims = [f"{plain}_dim_{axis}" for axis in range(value.ndim)]
    for frame in site.get("cond_indep_stack", ()):
        axis = value.ndim - event + frame.dim
        is_free = frame.name != plain and frame.name not in dims
        if 0 <= axis < value.ndim and value.shape[axis] == frame.size and is_free:
            dims[axis] = frame.name
    left = [axis for axis, dim in enumerate(dims) if dim == f"{plain}_dim_{axis}"]
    for axis, dim in zip(left, site.get("infer", {}).get("event_dims", ()), strict=False):
        dims[axis] = dim
    kind: Any = "whole" if value.dtype.kind in "iu" else "real"
    try:
        return Variable(plain, value.shape, tuple(dims), {}, kind)
    except InputError as error:
        raise InputError(f"{error}: rename it in the model") from None
