"""The reference: what every public name says of itself, as a page that `make docs` builds.

A hook of mkdocs (`hooks:` in mkdocs.yml). Made from docstrings, the page cannot lag behind.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import is_dataclass
from typing import Any

import aptmc
from aptmc import distance, plots

PAGE = "reference.md"
SECTIONS: dict[str, tuple[str, ...]] = {
    "Sample": ("sample", "start", "resume", "open", "replay", "rejection"),
    "Problems": ("Tempered", "Power", "Abc", "Prior"),
    "Ladders": ("Ladder", "AutoLadder"),
    "Kernels": ("RandomWalk", "Slice", "Mixture", "OneHit", "Kernel"),
    "Schedules": ("Anytime", "Synchronous", "Uncorrected", "Schedule"),
    "Exchange rules": (
        "NeighbouringRungs", "Alternating", "RandomParity", "OneRandomPair", "RungParity",
        "BetweenPools", "Reassignment", "Rule",
    ),
    "Pools": ("Shared", "Partitioned", "Paired"),
    "Who computes": ("Processes", "InProcess", "VirtualTime", "Futures", "Dask", "Ray"),
    "Results": ("Run", "RunHandle", "StopReason", "Key"),
    "Errors": (
        "AptmcError", "InputError", "RunFailed", "MoveFailed", "WorkerDied", "ExchangeFailed",
        "StoreFailed", "StoreDamaged",
    ),
}  # fmt: skip
INTRODUCTION = """# Reference

Every public name of `import aptmc`, from its docstring. [Names](names.md) is the short list.
"""


def on_files(files: Any, *, config: Any) -> Any:
    """Add the page to those that are there."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, PAGE, content=page()))
    return files


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    listed = {name for names in SECTIONS.values() for name in names}
    more = tuple(name for name in aptmc.__all__ if name not in listed and name[0] != "_")
    for title, names in {**SECTIONS, "More": more}.items():
        things = {name: getattr(aptmc, name) for name in names if hasattr(aptmc, name)}
        if things:
            parts.append(f"## {title}\n")
        parts += [entry(f"aptmc.{name}", thing, level=3) for name, thing in things.items()]
    for module in (plots, distance):
        name = module.__name__
        parts.append(f"## {name}\n")
        parts += [entry(f"{name}.{one}", thing, level=3) for one, thing in functions_of(module)]
    return "\n".join(parts)


def functions_of(module: Any) -> list[tuple[str, Any]]:
    """The public functions that a module offers."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if name[0] != "_"]
    found = [(name, getattr(module, name)) for name in names]
    own = module.__name__
    return [(n, f) for n, f in found if inspect.isfunction(f) and f.__module__.startswith(own)]


def entry(name: str, thing: Any, level: int) -> str:
    """A name with its signature, what it says, and the methods of a class."""
    mark = "#" * level
    parts = [f"{mark} `{name}`\n"]
    if (shown := signature(name, thing)) is not None:
        parts.append(f"```text\n{shown}\n```\n")
    parts.append(words(thing))
    if inspect.isclass(thing):
        for one, what in members(thing):
            parts.append(f"- `{one}{call(what)}`{gives(what)}: {first_line(what)}")
        parts.append("")
    elif given := gives(thing):
        parts.append(f"Gives{given.removeprefix(' →')}.\n")
    return "\n".join(parts)


def call(thing: Any) -> str:
    """The arguments of a method, without their types; nothing for a property."""
    if not inspect.isfunction(thing):
        return ""
    found = inspect.signature(thing)
    bare = [
        p.replace(annotation=p.empty)
        for n, p in found.parameters.items()
        if n not in ("self", "cls")
    ]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


def gives(thing: Any) -> str:
    """The type of what is returned, or of a property."""
    function = getattr(thing, "fget", None) or getattr(thing, "func", None) or thing
    said = getattr(function, "__annotations__", {}).get("return")
    return "" if said in (None, "None") else f" → `{plain(said)}`"


def plain(annotation: Any) -> str:
    """A type as users would write it: without the modules that it comes from."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:[a-z_]+\.)+([A-Z]\w*)", r"\1", text)


def types_of(thing: Any) -> dict[str, str]:
    """By name, the types of parameters; of a class, those that it is made with."""
    function = thing
    if inspect.isclass(thing):
        function = thing if is_dataclass(thing) else thing.__init__
    found = getattr(function, "__annotations__", {})
    return {name: plain(said) for name, said in found.items()}


def signature(name: str, thing: Any) -> str | None:
    """How it is called, one argument on each line if there are many."""
    if inspect.isclass(thing) and not is_dataclass(thing) and "__init__" not in vars(thing):
        return None
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return None
    short = name.rpartition(".")[2]
    # Types are in the docstrings' words; as annotations they would be most of the page.
    bare = [p.replace(annotation=p.empty) for n, p in found.parameters.items() if n != "self"]
    text = str(found.replace(parameters=bare, return_annotation=found.empty))
    return (
        f"{short}{text}"
        if len(text) < 80
        else f"{short}(\n    " + text[1:-1].replace(", ", ",\n    ") + "\n)"
    )


def words(thing: Any) -> str:
    """A docstring as Markdown: parameters as a list, examples as code."""
    text = inspect.getdoc(thing) or ""
    types = types_of(thing)

    def parameter(found: re.Match[str]) -> str:
        said = types.get(found[1])
        return f"- **{found[1]}** (`{said}`): " if said else f"- **{found[1]}**: "

    text = re.sub(r"^:param (\w+): ", parameter, text, flags=re.MULTILINE)
    before, mark, after = text.partition("- **")
    text = f"{before.rstrip()}\n\n{mark}{after}" if mark else text  # a list begins after a space
    blocks, is_code = [], False
    for line in text.splitlines():
        if line.startswith(">>> ") and not is_code:
            blocks.append("```pycon")
            is_code = True
        elif not line and is_code:
            blocks.append("```")
            is_code = False
        blocks.append(line)
    if is_code:
        blocks.append("```")
    return "\n".join(blocks) + "\n"


def members(thing: type) -> list[tuple[str, Any]]:
    """What a class adds: its own public methods and properties, and those of a base that is only
    there for it, and so has no place of its own.
    """
    found = []
    package = thing.__module__.rpartition(".")[0]
    alone = [
        base
        for base in thing.__mro__
        if base is thing
        or (base.__module__.rpartition(".")[0] == package and base.__subclasses__() == [thing])
    ]
    held = {name: value for base in alone for name, value in vars(base).items()}
    for name, value in held.items():
        plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        described = isinstance(plain, property) or inspect.isfunction(plain)
        described = described or type(plain).__name__ == "cached_property"
        if not name.startswith("_") and described and inspect.getdoc(plain):
            found.append((name, plain))
    return found


def first_line(thing: Any) -> str:
    """What a docstring says first, up to an empty line or an example."""
    first = re.split(r"\n\n|\n:param|\n>>>", inspect.getdoc(thing) or "")[0]
    return " ".join(first.split())
