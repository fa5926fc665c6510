"""How public functions answer when they are called wrongly, or fail.

Arguments that a function does not have, or lacks, are named before anything is done, with what was
meant. Errors that are meant for users show where they have called, and not our way from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, cleandoc, getdoc, signature
from typing import Any, ParamSpec, TypeVar

from aptmc.errors import AptmcError, ArgumentError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Class = TypeVar("Class", bound=type)

# What other libraries call the arguments of `sample`, and how the same is said here.
OTHERS_NAMES = {
    other: ours
    for ours, others in {
        'budget="10 min", or "5000 moves"': "draws iter iterations niter nsamples nsteps nsweeps "
        "ndraws numsamples samples steps sweeps time timeout maxtime walltime runtime",
        "on=4": "cores cpus jobs ncores nproc nprocs njobs numworkers nworkers parallel pool "
        "processes threads workers",
        "warmup=...": "burn burnin numwarmup nburn nwarmup tune",
        "pools=aptmc.Shared(2), two chains on each rung": "chains nchains numchains nwalkers "
        "walkers",
        "seed=1": "key randomseed randomstate rng rngseed rngkey",
        "progress=False": "progressbar quiet showprogress silent verbose",
        'ladder=[1, 0.5, 0.1], or "auto"': "betas epsilon epsilons eps ntemps temperatures temps "
        "tolerance tolerances",
        "kernel=aptmc.RandomWalk(0.5), say": "method moves proposal sampler step stepsize",
        'store="run.zarr"': "backend checkpoint db dir directory file filename folder output path",
        "until=aptmc.Effective(400), say": "ess neff rhat stop target tol",
    }.items()
    for other in others.split()
}

_BY_NAME = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_BY_PLACE = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_MANY = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def named_clearly(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Have a function say what was meant when it is called wrongly, and fail without our frames."""
    expected = signature(function).parameters
    name, words = function.__name__, getdoc(function) or ""

    @wraps(function)
    def checked(*given: Parameters.args, **named: Parameters.kwargs) -> Result:
        try:
            check_arguments(name, expected, given, named, words)
            return function(*given, **named)
        except AptmcError as error:
            raise error.with_traceback(None)  # noqa: B904 (it is the same error)

    return checked


def class_named_clearly(made: Class) -> Class:
    """Have a class do the same when an instance is made."""
    init: Callable[..., None] = made.__init__  # type: ignore[misc]
    expected = dict(list(signature(init).parameters.items())[1:])
    words = getdoc(made) or ""

    @wraps(init)
    def checked(self: Any, *given: Any, **named: Any) -> None:
        check_arguments(made.__name__, expected, given, named, words)
        init(self, *given, **named)

    made.__init__ = checked  # type: ignore[misc]
    return made


def check_arguments(
    name: str,
    expected: Mapping[str, Parameter],
    given: Sequence[Any],
    named: Mapping[str, Any],
    words: str = "",
) -> None:
    """Refuse arguments that a function does not have, and name those that it lacks.

    :param words: the function's docstring, which says what each is
    """
    known = [one for one in expected.values() if one.kind not in _MANY]
    takes_any = len(known) < len(expected)
    for argument in named:
        if not takes_any and argument not in expected:
            raise ArgumentError(_unknown(name, argument, [one.name for one in known]))
    places = [one.name for one in known if one.kind in _BY_PLACE]
    if not takes_any and len(given) > len(places):
        beyond = [one.name for one in known if one.kind is Parameter.KEYWORD_ONLY]
        example = ", ".join(
            [*places, *(f"{one}=..." for one in beyond[: len(given) - len(places)])]
        )
        if not beyond:
            most = f"at most {', '.join(places)}" if places else "nothing"
            raise ArgumentError(f"{name}() takes {most}, got {len(given)} arguments")
        only = " and ".join(places) or "nothing"
        raise ArgumentError(
            f"{name}() takes {only} without a name, got {len(given)} arguments: name the others, "
            f"{name}({example})"
        )
    filled = {*places[: len(given)], *named}
    for one in known:
        if one.default is Parameter.empty and one.name not in filled:
            said = _said_of(one.name, words)
            raise ArgumentError(f"{name}() needs {one.name}" + (f": {said}" if said else ""))


def _unknown(name: str, argument: str, known: list[str]) -> str:
    ours = OTHERS_NAMES.get(argument.lower().replace("_", ""))
    if ours is not None and ours.partition("=")[0] in known:
        return f"{name}() has no argument {argument!r}: use {ours}"
    close = get_close_matches(argument, known, n=1, cutoff=0.6)
    remedy = f"did you mean {close[0]}?" if close else f"it has {', '.join(known)}"
    return f"{name}() has no argument {argument!r}: {remedy}"


def _said_of(argument: str, words: str) -> str:
    """What a docstring says of an argument, on one line."""
    lines = cleandoc(words).splitlines()
    for place, line in enumerate(lines):
        if line.startswith(f":param {argument}:"):
            said = [line.partition(f"{argument}:")[2]]
            for more in lines[place + 1 :]:
                if not more.startswith("    "):
                    break
                said.append(more)
            return " ".join(" ".join(said).split())
    return ""
