"""A program with one loop as a beginning and a step, which can be left in mid-way.

What stands before the loop is computed when a simulation begins, each round of the loop is a step,
and what stands behind it belongs to the last one. What the loop carries from round to round, and
what is needed of what was computed before, is kept in a small state. The random numbers are those
of the whole program, for they come from the same key.
"""

from __future__ import annotations

from typing import Any, NamedTuple, final

from aptmc.jax_programs.control import read_row
from aptmc.jax_programs.elementwise import cast
from aptmc.jax_programs.kept_state import KeptState, Slot, restored, save
from aptmc.jax_programs.keys import form_of
from aptmc.jax_programs.opened import (
    LOOPS,
    Opened,
    Operation,
    Piece,
    counts_of_scan,
    opened,
    used_by,
)
from aptmc.jax_programs.translate import MOST_LINES, Walk, Written
from aptmc.jax_programs.values import Number, Stored, Value, write
from aptmc.jax_programs.writer import Untranslatable, Writer, cast_name, kind_of

# More would be far from fitting into the registers of any machine.
MOST_NUMBERS = 512


class Steps(NamedTuple):
    """The two functions, as text, and how many numbers they keep."""

    begin: Written
    step: Written
    size: int
    results: int  # how many numbers the program gives in the end


class _Loop(NamedTuple):
    """A loop, whichever of JAX's two kinds it is."""

    fixed: list[Any]  # what each round looks at
    carried: list[Any]  # what it begins with
    rows: list[Any]  # arrays of which each round looks at a row
    outs: list[Any]  # what it gives
    params: dict[str, Any]
    counts: bool  # whether its rounds are counted


def in_steps(program: Any) -> Steps:
    """The program of a function of (theta, key, tolerance), or of (theta, key), as two functions.

    :raises Untranslatable: with the reason, if it cannot be split
    """
    whole = opened(program)
    places = [place for place, one in enumerate(whole.piece.eqns) if one.primitive.name in LOOPS]
    if len(places) != 1:
        found = "none" if not places else str(len(places))
        raise Untranslatable(
            f"a simulation is left between the rounds of one loop, and there are {found} at its top"
            " level: write it with a single lax.while_loop or lax.scan"
        )
    return _Split(whole, places[0]).written()


@final
class _Split:
    """A program on its way."""

    def __init__(self, whole: Opened, place: int) -> None:
        self.whole, (self.theta, self.words, *tolerance) = whole, whole.piece.invars
        self.tolerance = tolerance[0] if tolerance else None
        before, after = whole.piece.eqns[:place], whole.piece.eqns[place + 1 :]
        self.loop = _loop_of(whole.piece.eqns[place])
        # What depends on the tolerance is computed in each step, which knows it.
        late_variables = {self.tolerance}
        self.early: list[Operation] = []
        self.late: list[Operation] = []
        for operation in before:
            is_late = any(_is_in(atom, late_variables) for atom in operation.invars)
            (self.late if is_late else self.early).append(operation)
            if is_late:
                late_variables.update(operation.outvars)
        if any(_is_in(atom, late_variables) for atom in self.loop.carried):
            raise Untranslatable(
                "what its loop begins with depends on the tolerance: let the loop look at the "
                "tolerance, and begin without it"
            )
        self.late_variables = late_variables
        self.after = Piece([], after, whole.piece.outvars)
        self.state = KeptState()

    def written(self) -> Steps:
        """Both functions."""
        needed = self._needed_in_steps()
        begin, kept, carried, counter = self._begin(needed)
        step, results = self._step(kept, carried, counter)
        if self.state.size > MOST_NUMBERS:
            raise Untranslatable(
                f"{self.state.size} numbers would have to be kept between its steps, at most "
                f"{MOST_NUMBERS} can: carry less from round to round"
            )
        return Steps(begin, step, max(self.state.size, 1), results)

    def _needed_in_steps(self) -> list[Any]:
        """What was computed before the loop and is needed from then on."""
        made = [self.words, *(one for operation in self.early for one in operation.outvars)]
        fixed = [atom for atom in (*self.loop.fixed, *self.loop.rows) if not hasattr(atom, "val")]
        wanted = used_by(self.after) | used_by(Piece([], self.late, [])) | set(fixed)
        return [variable for variable in made if variable in wanted]

    # --- the two functions ------------------------------------------------------------------------

    def _begin(self, needed: list[Any]) -> tuple[Written, dict[Any, Slot], list[Slot], int]:
        writer = Writer()
        writer.put("words = np.empty(2, u4)")
        for place in range(2):
            writer.put(f"words[{place}] = u4(np.floor(rng.random() * 4294967296.0))")
        given = {self.theta: _given(writer, self.theta, "theta"), self.words: _words(writer)}
        piece = Piece([], self.early, [*needed, *self.loop.carried])
        found = self._play(writer, piece, given)
        kept: dict[Any, Slot] = {}
        for variable, value in zip(needed, found, strict=False):
            slot = kept[variable] = self.state.slot(value, kind_of(form_of(variable.aval).dtype))
            save(writer, slot, value)
        carried = []
        for out, value in zip(self.loop.outs, found[len(needed) :], strict=False):
            carried.append(self.state.slot(value, kind_of(form_of(out.aval).dtype)))
            save(writer, carried[-1], value)
        # Rounds are counted from zero, which is what a state is at first.
        counter = self.state.size
        self.state.size += self.loop.counts
        return _text(writer, "jax_begin", "theta, rng, state", "None"), kept, carried, counter

    def _step(
        self, kept: dict[Any, Slot], carried: list[Slot], counter: int
    ) -> tuple[Written, int]:
        writer, loop = Writer(), self.loop
        given = {variable: restored(writer, slot) for variable, slot in kept.items()}
        given[self.theta] = _given(writer, self.theta, "theta")
        if self.tolerance is not None:
            code = cast(writer.let("tolerance"), "f8", kind_of(self.tolerance.aval.dtype))
            given[self.tolerance] = Number((), kind_of(self.tolerance.aval.dtype), code)
        late = Piece([], self.late, [one for op in self.late for one in op.outvars])
        given |= zip(late.outvars, self._play(writer, late, given), strict=True)
        fixed = self._play(writer, Piece([], [], [*loop.fixed, *loop.rows]), given)
        rows, fixed = fixed[len(loop.fixed) :], fixed[: len(loop.fixed)]
        now = [restored(writer, slot) for slot in carried]
        goes_on = self._goes_on(writer, fixed, now, counter)
        with writer.inside(f"if {goes_on}:"):
            found = self._round(writer, fixed, now, rows, counter)
            for slot, value in zip(carried, found, strict=True):
                save(writer, slot, value)
            writer.put("return -1.0")
        given |= zip(loop.outs, now, strict=True)
        results = self._play(writer, self.after, given)
        size, start = sum(value.size for value in results), 0
        writer.put(f"found = np.empty({size}, f8)")
        for value in results:
            target = Stored(writer, value.shape, "f8", "found", start)
            with writer.loops(value.shape) as index:
                write(writer, target, index, cast(value.element(index), value.kind, "f8"))
            start += value.size
        text = _text(writer, "jax_step", "theta, rng, state, tolerance", "distance_of(found)")
        return text, size

    def _goes_on(self, writer: Writer, fixed: list[Value], now: list[Value], counter: int) -> str:
        given = self.loop.params
        if self.loop.counts:
            return f"state[{counter}] < {int(given['length'])}.0"
        walk, count = Walk(writer), given["cond_nconsts"]
        (found,) = walk.play(given["cond_jaxpr"], [*fixed[:count], *now])
        return found.element(())

    def _round(
        self, writer: Writer, fixed: list[Value], now: list[Value], rows: list[Value], counter: int
    ) -> list[Value]:
        given, walk = self.loop.params, Walk(writer)
        if not self.loop.counts:
            return walk.play(given["body_jaxpr"], [*fixed[given["cond_nconsts"] :], *now])
        number = writer.let(f"int(state[{counter}])")
        place = writer.let(f"{int(given['length']) - 1} - {number}") if given["reverse"] else number
        at = [read_row(writer, row, place) for row in rows]
        writer.put(f"state[{counter}] = state[{counter}] + 1.0")
        return walk.play(given["jaxpr"], [*fixed, *now, *at])

    def _play(self, writer: Writer, piece: Piece, given: dict[Any, Value]) -> list[Value]:
        """The results of a piece, for what is given and known."""
        used = used_by(piece)
        known = [variable for variable in self.whole.known if variable in used]
        invars = [variable for variable in given if variable in used]
        whole = piece._replace(invars=invars, constvars=tuple(known))
        numbers = [self.whole.known[variable] for variable in known]
        return Walk(writer).play_piece(whole, numbers, [given[one] for one in invars])


def _loop_of(operation: Operation) -> _Loop:
    given, atoms = operation.params, operation.invars
    if operation.primitive.name == "while":
        fixed = given["cond_nconsts"] + given["body_nconsts"]
        return _Loop(atoms[:fixed], atoms[fixed:], [], operation.outvars, given, counts=False)
    fixed, carries = counts_of_scan(given)
    if any(type(one).__name__ != "DropVar" for one in operation.outvars[carries:]):
        raise Untranslatable(
            "its loop gives an array with a row for each round: carry what is needed of them, "
            "their largest distance, say, from round to round"
        )
    rows = atoms[fixed + carries :]
    return _Loop(
        atoms[:fixed], atoms[fixed : fixed + carries], rows, operation.outvars, given, counts=True
    )


def _is_in(atom: Any, variables: set[Any]) -> bool:
    return not hasattr(atom, "val") and atom in variables


def _given(writer: Writer, variable: Any, name: str) -> Value:
    kind = kind_of(variable.aval.dtype)
    return Stored(writer, tuple(variable.aval.shape), kind, name, 0, cast=cast_name(kind))


def _words(writer: Writer) -> Value:
    return Stored(writer, (2,), "u4", "words", 0)


def _text(writer: Writer, name: str, arguments: str, result: str) -> Written:
    text = writer.text()
    if len(text.lines) > MOST_LINES:
        raise Untranslatable(f"{len(text.lines)} operations")
    head = [f"def {name}({arguments}):"]
    head += [f"    r_{kind} = np.empty({size}, {kind})" for kind, size in text.room.items()]
    source = "\n".join([*head, *text.lines, f"    return {result}", ""])
    constants = {f"c_{kind}": numbers for kind, numbers in text.constants.items()}
    return Written(name, source, constants)
