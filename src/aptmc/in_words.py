"""What somebody else's exception says, in words that fit into an error of our own."""

from __future__ import annotations

import traceback

LONGEST = 1000  # characters
# What numpy says if somebody takes an array for a dictionary, a record, or a number.
USUAL = {
    IndexError: ("only integers, slices",),
    AttributeError: ("'numpy.ndarray' object has no attribute",),
    TypeError: ("only 0-dimensional arrays", "only length-1 arrays"),
}


def in_words(error: BaseException) -> str:
    """The kind of an exception and what it says; not more than a person reads.

    Its own methods are the user's code, too, and may fail.
    """
    try:
        words = str(error)
    except BaseException as failure:
        words = f"(its words cannot be had: {type(failure).__name__})"
    return f"{type(error).__name__}: {shortened(words)}"


def first_line(error: BaseException) -> str:
    """What an exception says, without what its library explains at length below."""
    return shortened(str(error).strip().partition("\n")[0])


def story(error: BaseException) -> str:
    """Where an exception came from, and what it says."""
    try:
        return shortened("".join(traceback.format_exception(error)), 20 * LONGEST)
    except BaseException:
        return in_words(error)


def shortened(words: str, longest: int = LONGEST) -> str:
    """The beginning and the end of what is too long."""
    if len(words) <= longest:
        return words
    half = longest // 2
    return f"{words[:half]} … ({len(words) - 2 * half} characters) … {words[-half:]}"


def hint(error: BaseException) -> str:
    """What to do about the usual slips with an array of parameters, as the end of a sentence."""
    said = str(error) if type(error) in USUAL else ""
    if any(words in said for words in USUAL.get(type(error), ())):
        return "; theta is an array in the prior's order: theta[0] is the first parameter,"
    return ""
