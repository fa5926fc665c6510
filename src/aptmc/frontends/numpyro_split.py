"""A model of NumPyro taken apart: programs for its prior, its likelihood and what users see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from aptmc.errors import InputError
from aptmc.frontends.numpyro_sites import Sites
from aptmc.in_words import first_line
from aptmc.jax_programs.programs import Key, bits_of, traced

# In the names of sites that no model has: of all latent ones, and of those with masks and scales.
JACOBIAN, CHANGE, UNCHANGED = "log Jacobian of ", "with masks of ", "without masks of "


@final
class Split:
    """What is computed of the vector of all unconstrained coordinates, one site after the other."""

    def __init__(self, model: Callable[..., Any], args: Any, kwargs: Any, sites: Sites) -> None:
        self._model, self._args, self._kwargs, self._sites = model, args, kwargs, sites
        self.names = [site.coordinates.name for site in sites.latent]
        self.size = sum(site.coordinates.size for site in sites.latent)
        self._needs_key = False
        self._needs_key = not self._runs_without_key()
        self.notes: list[str] = list(bits_of(self.density()))

    def density(self) -> Any:
        """The program of log prior and log likelihood."""
        return self._traced(self._densities, [(self.size,)])

    def gradient(self) -> Any:
        """That of the gradient of the log prior plus a weight times the log likelihood."""
        import jax

        def total(theta: Any, weight: Any) -> Any:
            prior, likelihood = self._densities(theta)
            return prior + weight * likelihood

        for way in (jax.grad, jax.jacfwd):
            try:
                return traced(way(total), [(self.size,), ()])
            except Exception as error:
                words = first_line(error)
        self.notes.append(f"JAX finds no gradient: {words}")
        return None

    def draw(self) -> Any:
        """That of a draw of the prior from a key."""
        import jax.numpy as jnp
        from numpyro import handlers
        from numpyro.distributions.transforms import biject_to

        def draw(key: Any) -> Any:
            trace = handlers.trace(handlers.seed(self._model, key)).get_trace(
                *self._args, **self._kwargs
            )
            places = [
                jnp.ravel(biject_to(site["fn"].support).inv(site["value"]))
                for site in trace.values()
                if site["type"] == "sample" and not site["is_observed"]
            ]
            return jnp.concatenate(places)

        return self._traced(draw, [Key()])

    def shown(self) -> Any:
        """That of what users see: latent sites, then deterministic ones."""
        import jax.numpy as jnp

        def shown(theta: Any) -> Any:
            trace = self._run(theta)
            kinds = ("sample", "deterministic")
            found = [
                jnp.ravel(site["value"]).astype(theta.dtype)
                for kind in kinds
                for name, site in trace.items()
                if site["type"] == kind and not site.get("is_observed", False) and not _is_own(name)
            ]
            return jnp.concatenate(found)

        return self._traced(shown, [(self.size,)])

    def shapes_of_observations(self) -> list[tuple[str, tuple[int, ...]]]:
        """By observed site, how many single observations it has, in which shape."""
        import jax
        import jax.numpy as jnp

        theta = jnp.zeros(self.size)
        shapes = jax.eval_shape(self._single_terms, theta)
        names = [site.variable.name for site in self._sites.observed]
        return list(zip(names, [tuple(one.shape) for one in shapes], strict=True))

    def of_observations(self) -> Any:
        """The program of the log likelihood of each single observation, without any scale."""
        import jax.numpy as jnp

        def terms(theta: Any) -> Any:
            found = self._single_terms(theta)
            return jnp.concatenate([jnp.ravel(one).astype(theta.dtype) for one in found])

        return self._traced(terms, [(self.size,)])

    def _single_terms(self, theta: Any) -> list[Any]:
        trace = self._run(theta)
        return [_log_prob(trace[site.name]) for site in self._sites.observed]

    # --- running the model ----------------------------------------------------------------------

    def _run(self, theta: Any) -> dict[str, Any]:
        """The sites of the model at some coordinates, beside each latent one its log Jacobian.

        That is a site, too, because only sites come out of a loop, `scan`.
        """
        import jax
        import jax.numpy as jnp
        import numpyro
        from numpyro import handlers
        from numpyro.distributions.transforms import biject_to
        from numpyro.distributions.util import sum_rightmost

        places = self._pieces(theta)

        def value_of(site: dict[str, Any]) -> Any:
            if site["type"] != "sample" or site["is_observed"]:
                return None
            transform = biject_to(site["fn"].support)
            place = places[site["name"]]
            shift = transform.codomain.event_dim - transform.domain.event_dim
            step = site["infer"].get("_scan_current_index")
            if step is not None and jnp.ndim(place) > len(site["fn"].shape()) - shift:
                place = place[step]  # of a loop, which has all its steps in one site
            value = transform(place)
            log = transform.log_abs_det_jacobian(place, value)
            if not _is_as_drawn(site):
                # As in NumPyro masks and scales are those of this factor, too.
                numbers = jnp.ndim(log) - jnp.ndim(value) + len(site["fn"].event_shape)
                numpyro.factor(CHANGE + site["name"], sum_rightmost(log, numbers))
                numpyro.deterministic(UNCHANGED + site["name"], jnp.sum(log))
            numpyro.deterministic(JACOBIAN + site["name"], jnp.sum(log))
            return value

        model = self._model
        if self._needs_key:
            model = handlers.seed(model, jax.random.PRNGKey(0))
        substituted = handlers.substitute(model, substitute_fn=value_of)
        found: dict[str, Any] = handlers.trace(substituted).get_trace(*self._args, **self._kwargs)
        return found

    def _runs_without_key(self) -> bool:
        """Whether all that the model draws is given: a loop would split a key at each step."""
        import jax
        import jax.numpy as jnp

        names: list[str] = []

        def run(theta: Any) -> Any:
            names.extend(self._run(theta))
            return theta

        try:
            jax.eval_shape(run, jnp.zeros(self.size))
        except Exception:  # whatever it is, with a key it is told or does not happen
            return False
        return {name for name in names if not _is_own(name)} == self._sites.names

    def _pieces(self, theta: Any) -> dict[str, Any]:
        found, start = {}, 0
        for site in self._sites.latent:
            shape, size = site.coordinates.shape, site.coordinates.size
            found[site.name] = theta[start : start + size].reshape(shape)
            start += size
        return found

    def _densities(self, theta: Any) -> tuple[Any, Any]:
        """Log prior and log likelihood.

        What a mask or a scale makes of a latent site is left to the likelihood, for the prior has
        the density of its draws.
        """
        import jax.numpy as jnp

        prior = likelihood = jnp.zeros((), theta.dtype)
        for name, site in self._run(theta).items():
            if JACOBIAN in name:
                prior = prior + jnp.sum(site["value"])
            if UNCHANGED in name:
                likelihood = likelihood - jnp.sum(site["value"])
            if site["type"] != "sample":
                continue
            logs = _log_prob(site)
            log = jnp.sum(logs if site["scale"] is None else logs * site["scale"])
            if site["is_observed"]:
                likelihood = likelihood + log
                continue
            of_draws = jnp.sum(_of_draws(site))
            prior = prior + of_draws
            if not _is_as_drawn(site):
                likelihood = likelihood + log - of_draws
        return jnp.asarray(prior, theta.dtype), jnp.asarray(likelihood, theta.dtype)

    def _traced(self, function: Callable[..., Any], arguments: list[Any]) -> Any:
        try:
            return traced(function, arguments)
        except Exception as error:
            raise InputError(
                "JAX cannot trace the model, as NUTS of NumPyro would have to: "
                f"{type(error).__name__}: {first_line(error)}"
            ) from error


def _is_own(name: str) -> bool:
    return any(words in name for words in (JACOBIAN, UNCHANGED, CHANGE))


def _log_prob(site: dict[str, Any]) -> Any:
    """The log density of each single value of a site."""
    function, value = site["fn"], site["value"]
    if site["intermediates"]:
        return function.log_prob(value, site["intermediates"])
    return function.log_prob(value)


def _is_as_drawn(site: dict[str, Any]) -> bool:
    """Whether the density of a latent site is that of its draws: neither masked nor scaled."""
    return site["scale"] is None and _without_masks(site["fn"]) is site["fn"]


def _of_draws(site: dict[str, Any]) -> Any:
    """The same of the draws of a site, which no mask changes."""
    unmasked = _without_masks(site["fn"])
    return _log_prob(site) if unmasked is site["fn"] else unmasked.log_prob(site["value"])


def _without_masks(function: Any) -> Any:
    import numpyro.distributions as dist

    if isinstance(function, dist.MaskedDistribution):
        return _without_masks(function.base_dist)
    if not isinstance(function, dist.ExpandedDistribution | dist.Independent):
        return function
    base = _without_masks(function.base_dist)
    if base is function.base_dist:
        return function
    if isinstance(function, dist.Independent):
        return base.to_event(function.reinterpreted_batch_ndims)
    return base.expand(function.batch_shape)
