"""Draws from the prior of a model of PyMC, all from one generator that is handed in."""

from __future__ import annotations

from typing import Any

import numpy as np

from aptmc.errors import InputError
from aptmc.frontends.machine_code import MachineCode
from aptmc.frontends.model_problem import TemperedModel
from aptmc.frontends.pymc_graphs import Graphs
from aptmc.frontends.pytensor_numba import machine_code
from aptmc.in_words import first_line

TRIED = 3  # draws


def prior_draw(graphs: Graphs) -> MachineCode:
    """A function that draws coordinates: free variables one after the other, then transformed.

    In a model each random variable has a generator of its own. Here one passes through all of
    them, so that a draw is a function of the key of the move, to which that generator belongs.
    """
    import pytensor.tensor as pt
    from pytensor.graph.fg import FunctionGraph

    model = graphs.model
    values = [_value(model, variable) for variable in graphs.free]
    whole = [variable for variable in graphs.free if not variable.dtype.startswith("float")]
    flat = pt.concatenate([pt.cast(value, "float64").ravel() for value in values])
    if whole:
        flat = flat + _within_unit(graphs.free, values)
    graph = _opened(FunctionGraph(outputs=[flat], clone=True))
    rng = pt.random.type.random_generator_type("rng")
    latest: Any = rng
    for node in graph.toposort():
        generators = [place for place, one in enumerate(node.inputs) if _is_generator(one)]
        if not generators:
            continue
        node = _with_known_draws(graph, node)
        updates = node.op.update(node)
        for place in generators:
            before = node.inputs[place]
            after = updates.get(before)
            graph.change_node_input(node, place, latest, import_missing=True)
            latest = after if after is not None else latest
    return machine_code("drawn", [rng], graph.outputs[0], check_bounds=graphs.check_bounds)


def check_draw(problem: TemperedModel, model: Any) -> None:
    """Draw some times: from a prior that cannot be drawn from, from the same numbers twice."""
    rng = np.random.default_rng(0)
    drawn = []
    try:
        for _ in range(TRIED):
            drawn.append(problem.prior.draw(rng))
    except Exception as error:
        names = ", ".join(variable.name for variable in model.free_RVs)
        raise InputError(
            f"the prior of {names} cannot be drawn from, which hot chains do "
            f"({first_line(error)}): give pm.CustomDist its random=, and distributions values "
            "that they can have"
        ) from error
    if np.any(drawn[0] == drawn[1]):
        raise InputError(
            "draws from the prior do not move their generator on, and would all be the same: "
            "write the variable with distributions of PyMC, in place of a draw of your own"
        )


def _value(model: Any, variable: Any) -> Any:
    transform = model.rvs_to_transforms[variable]
    if transform is None:
        return variable
    return transform.forward(variable, *variable.owner.inputs)


def _within_unit(variables: Any, values: Any) -> Any:
    """For each coordinate, where in [k, k + 1) a whole number k is held; 0 for a real one."""
    import pytensor
    import pytensor.tensor as pt

    parts = []
    for variable, value in zip(variables, values, strict=True):
        if variable.dtype.startswith("float"):
            parts.append(pt.zeros_like(value, dtype="float64").ravel())
        else:
            own = pytensor.shared(np.random.default_rng(0))
            parts.append(pt.random.uniform(0.0, 1.0, size=value.shape, rng=own).ravel())
    return pt.concatenate(parts)


def _is_generator(variable: Any) -> bool:
    return type(variable.type).__name__ == "RandomGeneratorType"


def _opened(graph: Any) -> Any:
    """The same with the insides of random variables that are made of others.

    Those with a loop inside stay as they are: they say themselves what becomes of generators.
    """
    from pytensor.compile.builders import OpFromGraph
    from pytensor.graph.replace import clone_replace
    from pytensor.scan.op import Scan

    while True:
        closed = [
            node
            for node in graph.toposort()
            if isinstance(node.op, OpFromGraph)
            and any(map(_is_generator, node.inputs))
            and not any(isinstance(inner.op, Scan) for inner in node.op.fgraph.apply_nodes)
        ]
        if not closed:
            return graph
        for node in closed:
            given = dict(zip(node.op.inner_inputs, node.inputs, strict=True))
            inside = clone_replace(node.op.inner_outputs, given, rebuild_strict=False)
            pairs = list(zip(node.outputs, inside, strict=True))
            graph.replace_all(pairs, import_missing=True)


def _with_known_draws(graph: Any, node: Any) -> Any:
    """The same, with Student's t in place of Cauchy's distribution.

    PyTensor 2.38 divides Cauchy's draws by their scale when numba draws them.
    """
    import pytensor.tensor as pt

    if type(node.op).__name__ != "CauchyRV":
        return node
    rng, size, location, scale = node.inputs
    student = pt.random.t.make_node(rng, size, pt.constant(1.0), location, scale)
    graph.replace_all(list(zip(node.outputs, student.outputs, strict=True)), import_missing=True)
    return student
