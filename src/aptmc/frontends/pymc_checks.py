"""What of PyMC cannot be sampled here, said before any work."""

from __future__ import annotations

from typing import Any

from aptmc.errors import InputError


def check_model(model: Any) -> None:
    """Refuse what is no model, has no data, or a prior from which nobody can draw."""
    import pymc

    if not isinstance(model, pymc.Model):
        raise InputError(
            f"from_pymc needs a pymc.Model, got {model!r}: give the model of `with pm.Model() as "
            "model:`"
        )
    if not model.free_RVs:
        raise InputError(
            "the model has no free variables, so there is nothing to sample: give one of them a "
            "distribution without observed="
        )
    if not model.observed_RVs and not model.potentials:
        raise InputError(
            "the model has no observed variables, so there is no likelihood to temper: say "
            "observed=data in one of them, or draw from the prior with pm.sample_prior_predictive"
        )
    _check_minibatches(model)
    _check_simulators(model)
    improper = [
        variable.name
        for variable in model.free_RVs
        if type(variable.owner.op).__name__ in ("FlatRV", "HalfFlatRV")
    ]
    if improper:
        raise InputError(
            f"{', '.join(improper)} has a flat prior, from which hot chains cannot draw: give it "
            "a proper one, a wide pm.Normal or pm.HalfNormal"
        )


def _check_simulators(model: Any) -> None:
    from pymc.distributions.simulator import SimulatorRV

    for variable in model.basic_RVs:
        if isinstance(variable.owner.op, SimulatorRV):
            raise InputError(
                f"{variable.name} is a pm.Simulator, which has no likelihood: give the simulator "
                "to aptmc.Abc(simulate, prior, observed=..., distance=...)"
            )


def _check_minibatches(model: Any) -> None:
    from pytensor.graph.traversal import ancestors

    values = [model.rvs_to_values[variable] for variable in model.observed_RVs]
    for variable in ancestors([*values, *model.observed_RVs, *model.potentials]):
        operation = None if variable.owner is None else variable.owner.op
        if type(operation).__name__ in ("MinibatchOp", "MinibatchIndexRV"):
            raise InputError(
                "the model's data are a pm.Minibatch, whose likelihood is another one each time "
                "that it is computed: give all data, without pm.Minibatch and total_size"
            )
