"""Operations number by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aptmc.jax_programs.values import Computed, Number, Value, at_hand
from aptmc.jax_programs.writer import Index, Untranslatable, Writer, kind_of

# What each is, for numbers with a fraction.
_REAL = {
    "add": "{0} + {1}", "add_any": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}",
    "div": "{0} / {1}", "neg": "-{0}", "abs": "abs({0})", "square": "{0} * {0}",
    "max": "larger({0}, {1})", "min": "smaller({0}, {1})",
    "exp": "math.exp({0})", "exp2": "math.pow(2.0, {0})", "expm1": "math.expm1({0})",
    "log": "math.log({0})", "log1p": "math.log1p({0})",
    "sqrt": "math.sqrt({0})", "rsqrt": "1.0 / math.sqrt({0})",
    "sin": "math.sin({0})", "cos": "math.cos({0})", "tan": "math.tan({0})",
    "asin": "math.asin({0})", "acos": "math.acos({0})", "atan": "math.atan({0})",
    "sinh": "math.sinh({0})", "cosh": "math.cosh({0})", "tanh": "math.tanh({0})",
    "asinh": "math.asinh({0})", "acosh": "math.acosh({0})", "atanh": "math.atanh({0})",
    "atan2": "math.atan2({0}, {1})", "pow": "math.pow({0}, {1})", "rem": "np.fmod({0}, {1})",
    "logistic": "1.0 / (1.0 + math.exp(-{0}))",
    "erf": "math.erf({0})", "erfc": "math.erfc({0})", "erf_inv": "inverse_erf({0})",
    "lgamma": "math.lgamma({0})", "digamma": "digamma({0})",
    "floor": "np.floor({0})", "ceil": "np.ceil({0})", "sign": "sign({0})",
    "clamp": "smaller(larger({0}, {1}), {2})",
    "nextafter": "np.nextafter({0}, {1})",
}  # fmt: skip
_WHOLE = {
    "add": "{0} + {1}", "add_any": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}",
    "neg": "-{0}", "abs": "abs({0})", "square": "{0} * {0}",
    "max": "larger({0}, {1})", "min": "smaller({0}, {1})",
    "sign": "(({0} > 0) - ({0} < 0))",
    "div": "({0} - np.fmod({0}, {1})) // {1}", "rem": "np.fmod({0}, {1})",
    "and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}", "not": "~{0}",
    "shift_left": "{0} << {1}", "shift_right_logical": "{0} >> {1}",
    "shift_right_arithmetic": "{0} >> {1}",
    "clamp": "smaller(larger({0}, {1}), {2})",
}  # fmt: skip
_TRUTH = {
    "and": "{0} and {1}", "or": "{0} or {1}", "not": "not {0}", "xor": "{0} != {1}",
    "max": "{0} or {1}", "min": "{0} and {1}", "add": "{0} or {1}", "mul": "{0} and {1}",
}  # fmt: skip
_COMPARED = {
    "eq": "{0} == {1}", "ne": "{0} != {1}", "lt": "{0} < {1}", "le": "{0} <= {1}",
    "gt": "{0} > {1}", "ge": "{0} >= {1}",
}  # fmt: skip
_UNCHANGED = {"copy", "copy_p", "stop_gradient", "reduce_precision", "optimization_barrier"}

KNOWN = {
    *_REAL, *_WHOLE, *_TRUTH, *_COMPARED, *_UNCHANGED,
    "integer_pow", "round", "is_finite", "select_n", "convert_element_type",
    "bitcast_convert_type",
}  # fmt: skip


def elementwise(
    writer: Writer, name: str, parameters: dict[str, Any], operands: list[Value], out: Any
) -> Value:
    """The result of an operation number by number."""
    if name in _UNCHANGED:
        return operands[0]
    shape, kind = tuple(out.shape), kind_of(out.dtype)
    code = _code(name, parameters, operands, kind)
    operands = [one if one.shape == shape else at_hand(writer, one) for one in operands]

    def compute(index: tuple[Index, ...]) -> str:
        return writer.let(code([element_of(operand, index) for operand in operands]))

    if not shape:
        return Number((), kind, compute(()))
    return Computed(writer, shape, kind, compute)


def element_of(operand: Value, index: tuple[Index, ...]) -> str:
    """A number of an operand; one along an axis, or at all, stands for all of them."""
    if not operand.shape:
        return operand.element(())
    return operand.element(
        tuple(0 if n == 1 else place for n, place in zip(operand.shape, index, strict=True))
    )


def _code(
    name: str, parameters: dict[str, Any], operands: list[Value], kind: str
) -> Callable[[list[str]], str]:
    given = operands[0].kind
    if name == "select_n":
        if len(operands) != 3 or given != "b1":
            return _choice
        return lambda places: f"({places[2]} if {places[0]} else {places[1]})"
    if name == "convert_element_type":
        return lambda places: cast(places[0], given, kind)
    if name == "bitcast_convert_type":
        return lambda places: _same_bits(places[0], given, kind)
    if name == "integer_pow":
        return lambda places: _typed(_power(places[0], int(parameters["y"])), kind)
    if name == "is_finite":
        return lambda places: f"math.isfinite({places[0]})"
    if name == "round":
        is_even = int(parameters["rounding_method"]) == 1  # a half goes to the even number
        code = "np.rint({0})" if is_even else "math.copysign(np.floor(abs({0}) + 0.5), {0})"
        return lambda places: _typed(code.format(places[0]), kind)
    if name in _COMPARED:
        return lambda places: _COMPARED[name].format(*places)
    table = _TRUTH if kind == "b1" else _REAL if kind[0] == "f" else _WHOLE
    if name not in table or (name == "shift_right_logical" and kind[0] == "i"):
        raise Untranslatable(f"the operation {name} of numbers of type {kind}")
    return lambda places: _typed(table[name].format(*places), kind)


def _typed(code: str, kind: str) -> str:
    """Python's, and numba's, numbers have more bits than some that they are made of."""
    return code if kind in ("f8", "b1") else f"{kind}({code})"


def cast(place: str, given: str, kind: str) -> str:
    """A number as one of another kind."""
    if given == kind:
        return place
    if kind == "b1":
        return f"({place} != 0)"
    if given == "b1":
        one, zero = ("1.0", "0.0") if kind == "f8" else (f"{kind}(1)", f"{kind}(0)")
        return f"({one} if {place} else {zero})"
    return f"{kind}({place})"


def _same_bits(place: str, given: str, kind: str) -> str:
    if given[1:] != kind[1:]:
        raise Untranslatable(f"bits of {given} as {kind}")
    if given[0] in "iu" and kind[0] in "iu":
        return f"{kind}({place})"
    if given[0] == "i":
        place = f"u{given[1:]}({place})"
    if given[0] == "f" and kind[0] == "i":
        return f"{kind}(bits_u{kind[1:]}({place}))"
    return f"bits_{kind}({place})"


def _power(place: str, exponent: int) -> str:
    if exponent < 0:
        return f"1.0 / {_power(place, -exponent)}"
    if exponent == 0:
        return "1.0"
    return "(" + " * ".join([place] * exponent) + ")" if exponent < 5 else f"{place} ** {exponent}"


def _choice(places: list[str]) -> str:
    which, *cases = places
    code = cases[-1]
    for number, case in reversed(list(enumerate(cases[:-1]))):
        code = f"({case} if int({which}) == {number} else {code})"
    return code
