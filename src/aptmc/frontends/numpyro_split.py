"""A model of NumPyro taken apart: programs for its prior, its likelihood and what users see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from aptmc.errors import InputError
from aptmc.frontends.numpyro_sites import Sites
from aptmc.jax_programs.programs import Key, bits_of, traced


@final
class Split:
    """What is computed of the vector of all unconstrained coordinates, one site after the other."""

    def __init__(self, model: Callable[..., Any], args: Any, kwargs: Any, sites: Sites) -> None:
        self._model, self._args, self._kwargs, self._sites = model, args, kwargs, sites
        self.names = [site.coordinates.name for site in sites.latent]
        self.size = sum(site.coordinates.size for site in sites.latent)
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
                words = str(error).strip().partition("\n")[0]
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
            trace, _ = self._run(theta)
            kinds = ("sample", "deterministic")
            found = [
                jnp.ravel(site["value"]).astype(theta.dtype)
                for kind in kinds
                for site in trace.values()
                if site["type"] == kind and not site.get("is_observed", False)
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
        trace, _ = self._run(theta)
        return [_log_prob(trace[site.name]) for site in self._sites.observed]

    # --- running the model ----------------------------------------------------------------------

    def _run(self, theta: Any) -> tuple[dict[str, Any], Any]:
        """The sites of the model at some coordinates, and the log of the Jacobian."""
        import jax.numpy as jnp
        from numpyro import handlers
        from numpyro.distributions.transforms import biject_to

        places = iter(self._pieces(theta))
        logs: list[Any] = [jnp.zeros((), theta.dtype)]

        def value_of(site: dict[str, Any]) -> Any:
            if site["type"] != "sample" or site["is_observed"]:
                return None
            transform = biject_to(site["fn"].support)
            place = next(places)
            value = transform(place)
            logs.append(jnp.sum(transform.log_abs_det_jacobian(place, value)))
            return value

        substituted = handlers.substitute(handlers.seed(self._model, 0), substitute_fn=value_of)
        trace = handlers.trace(substituted).get_trace(*self._args, **self._kwargs)
        return trace, sum(logs)

    def _pieces(self, theta: Any) -> list[Any]:
        found, start = [], 0
        for site in self._sites.latent:
            shape, size = site.coordinates.shape, site.coordinates.size
            found.append(theta[start : start + size].reshape(shape))
            start += size
        return found

    def _densities(self, theta: Any) -> tuple[Any, Any]:
        import jax.numpy as jnp

        trace, prior = self._run(theta)
        likelihood = jnp.zeros((), theta.dtype)
        for site in trace.values():
            if site["type"] != "sample":
                continue
            logs = _log_prob(site)
            log = jnp.sum(logs if site["scale"] is None else logs * site["scale"])
            if site["is_observed"]:
                likelihood = likelihood + log
            else:
                prior = prior + log
        return jnp.asarray(prior, theta.dtype), jnp.asarray(likelihood, theta.dtype)

    def _traced(self, function: Callable[..., Any], arguments: list[Any]) -> Any:
        try:
            return traced(function, arguments)
        except Exception as error:
            words = str(error).strip().partition("\n")[0]
            raise InputError(
                "JAX cannot trace the model, as NUTS of NumPyro would have to: "
                f"{type(error).__name__}: {words}"
            ) from error


def _log_prob(site: dict[str, Any]) -> Any:
    """The log density of each single value of a site."""
    function, value = site["fn"], site["value"]
    if site["intermediates"]:
        return function.log_prob(value, site["intermediates"])
    return function.log_prob(value)
