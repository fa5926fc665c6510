"""PyMC's models as problems: `aptmc.from_pymc`."""

from __future__ import annotations

from typing import Any

from aptmc.frontends.model_problem import (
    OBSERVATIONS,
    Shown,
    TemperedModel,
    check_observations,
    compile_now,
)
from aptmc.frontends.observations import Observations, single_terms
from aptmc.frontends.optional import library
from aptmc.frontends.pymc_checks import check_model
from aptmc.frontends.pymc_graphs import graphs_of
from aptmc.frontends.pymc_prior import check_draw, prior_draw
from aptmc.frontends.pymc_variables import (
    coordinates_of,
    data_of,
    notes_of,
    shown_variables,
)
from aptmc.problem.variables import Variable


def from_pymc(model: Any) -> TemperedModel:
    """A model of PyMC as a problem: the prior times a power of the likelihood.

    Free variables, with their transforms, are the prior, from which hot chains draw; observed
    variables and potentials are the likelihood. Density, gradient and draws are compiled by PyMC's
    mode NUMBA, once for a model. Draws come back as `pm.sample` gives them: constrained, with
    names, dims, coords and deterministics. Free variables that are whole numbers make moves without
    gradients.

    Data are those of the moment of the call. Needs PyMC: `pip install 'aptmc[pymc]'`.

    :param model: a `pymc.Model` with observed variables

    >>> import aptmc
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     mean = pm.Normal("mean", 0, 10)
    ...     y = pm.Normal("y", mean, 1, observed=[2.1, 2.9])
    >>> aptmc.from_pymc(model)
    <aptmc.TemperedModel of mean>
    """
    library("pymc", extra="pymc", asked_by="from_pymc")
    check_model(model)
    graphs = graphs_of(model)
    parameters, derived = shown_variables(model)
    shown = Shown(
        coordinates_of(graphs),
        (*parameters, *derived),
        graphs.code("shown", graphs.shown([*parameters, *derived])),
        len(parameters),
    )
    has_whole = any(variable.kind == "whole" for variable in parameters)
    problem = TemperedModel(
        shown,
        graphs.code("values", graphs.densities),
        None if has_whole else graphs.code("weighted", graphs.gradient),
        prior_draw(graphs),
        notes=notes_of(model),
        data_groups=data_of(model),
    )
    check_draw(problem, model)
    check_observations(problem)
    compile_now(problem)
    known = {
        one.variable.name: one.variable for one in problem.data_groups.get("observed_data", ())
    }
    observed = graphs.shapes_of_observations()
    terms = [single_terms(known.get(name, Variable(name)), shape) for name, shape in observed]
    OBSERVATIONS[problem] = Observations(
        terms, lambda: graphs.code("values", graphs.of_observations())
    )
    return problem
