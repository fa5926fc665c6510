"""Variables: names, shapes, labels, and how coordinates become parameters."""

from __future__ import annotations

import numpy as np
import pytest

import aptmc
from aptmc.errors import InputError
from aptmc.problem.parametrisation import Parametrisation
from aptmc.problem.variables import Variable
from aptmc.targets import INTERPRETED


def test_labels_are_names_and_places() -> None:
    assert Variable("rate").labels == ("rate",)
    assert Variable("beta", (2, 2)).labels == (
        "beta[0, 0]",
        "beta[0, 1]",
        "beta[1, 0]",
        "beta[1, 1]",
    )
    named = Variable("beta", (2,), ("city",), {"city": np.array(["Rome", "Oslo"])})
    assert named.labels == ("beta[Rome]", "beta[Oslo]")
    assert named.coords == {"city": ("Rome", "Oslo")}
    assert Variable("beta", (3,)).dims == ("beta_dim_0",)


def test_a_variable_goes_through_json() -> None:
    for variable in (
        Variable("rate"),
        Variable("share", (3,), ("party",), {"party": ("a", "b", "c")}, "simplex"),
        Variable("count", (2, 2), ("row", "column"), {"row": (1.5, 2.5)}, "whole"),
    ):
        assert Variable.from_json(variable.to_json()) == variable


def test_names_of_other_languages_are_names() -> None:
    """Of the part of a model, and of a term of a formula."""
    assert Variable("part::a", (2,)).labels == ("part::a[0]", "part::a[1]")
    assert Variable("1|county_sigma").labels == ("1|county_sigma",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "two words"}, "cannot be named 'two words'"),
        ({"name": "a/b"}, "cannot be named 'a/b'"),  # would be two folders of a store
        ({"shape": (0,)}, r"shape of 'beta' must be a whole number from 1 on .* got \(0,\)"),
        ({"shape": (2.0,)}, "must be a whole number from 1 on"),
        ({"shape": "three"}, "must be a whole number from 1 on"),
        ({"dims": ("city", "year")}, r"has shape \(3,\), which needs 1 different dims, got"),
        ({"dims": ("chain",)}, "a dimension of 'beta' cannot be named 'chain'"),
        ({"dims": ("beta",)}, "a dimension of 'beta' cannot be named 'beta'"),
        ({"dims": ("city",), "coords": {"year": (1, 2, 3)}}, "beta has no dimension 'year'"),
        ({"dims": ("city",), "coords": {"city": (1, 2)}}, "'city' of beta has 3 places"),
        ({"dims": ("city",), "coords": {"city": (1, 1, 2)}}, "as many different names"),
        ({"dims": ("city",), "coords": {"city": [[1], [2], [3]]}}, "must be words or numbers"),
    ],
)
def test_what_cannot_be_a_variable(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Variable(**{"name": "beta", "shape": (3,), **arguments})  # type: ignore[arg-type]


ALL = Parametrisation(
    [Variable("rate"), Variable("count", (2,), kind="whole"), Variable("s", (4,), kind="simplex")]
)


def test_a_simplex_has_one_coordinate_less_than_numbers() -> None:
    assert ALL.names == ("rate", "count[0]", "count[1]", "s[0]", "s[1]", "s[2]")
    assert ALL.labels == (*ALL.names, "s[3]")
    assert (ALL.dimension, ALL.size) == (6, 7)


def test_coordinates_become_parameters_over_any_leading_axes() -> None:
    theta = np.array([0.5, 2.9, -1.1, 0.0, 0.0, 0.0])
    expected = [0.5, 2.0, -2.0, 0.25, 0.25, 0.25, 0.25]
    np.testing.assert_allclose(ALL.constrain(theta), expected, rtol=1e-15)
    many = ALL.constrain(np.tile(theta, (2, 3, 1)))
    assert many.shape == (2, 3, 7)
    np.testing.assert_array_equal(many[1, 2], ALL.constrain(theta))
    arrays = ALL.arrays(np.tile(theta, (5, 1)))
    assert {name: value.shape for name, value in arrays.items()} == {
        "rate": (5,), "count": (5, 2), "s": (5, 4),
    }  # fmt: skip


@pytest.mark.parametrize("odds", [-1e4, -800.0, -30.0, 0.0, 30.0, 800.0, 1e4])
def test_shares_are_never_negative_and_their_sum_is_one(odds: float) -> None:
    shares = ALL.constrain([0.0, 0.0, 0.0, odds, -odds, 0.5 * odds])[3:]
    assert (shares >= 0.0).all()
    assert shares.sum() == pytest.approx(1.0, abs=1e-15)


def test_real_parameters_are_their_own_coordinates_and_nothing_is_copied() -> None:
    plain = Parametrisation([Variable("a"), Variable("b", (2,))])
    theta = np.array([1.0, 2.0, 3.0])
    assert plain.constrain(theta) is theta

    def function(theta: object) -> None:
        """Any."""

    assert plain.of_coordinates(function, INTERPRETED) is function


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ([Variable("a"), Variable("a")], "a name of its own, got 'a' twice"),
        (
            [Variable("a", (2,), ("d",)), Variable("b", (3,), ("d",))],
            "the dimension 'd' of 'b' has 3 places",
        ),
        ([Variable("a", (2,), ("b",)), Variable("b")], "a dimension cannot be named 'b'"),
    ],
)
def test_variables_must_go_together(variables: list[Variable], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Parametrisation(variables)


@pytest.mark.parametrize("theta", [0.0, [1.0, 2.0], np.zeros((6, 2))])
def test_constrain_wants_all_coordinates(theta: object) -> None:
    with pytest.raises(InputError, match="theta must have 6 coordinates"):
        ALL.constrain(theta)  # type: ignore[arg-type]


def test_a_power_problem_may_start_from_arrays() -> None:
    problem = aptmc.Power(lambda theta: -0.5 * theta @ theta, {"a": 1.0, "b": np.zeros((2, 2))})
    assert problem.names == ("a", "b[0, 0]", "b[0, 1]", "b[1, 0]", "b[1, 1]")
    assert problem.reference is None
    np.testing.assert_array_equal(problem.draw_start(np.random.default_rng(1)), [1, 0, 0, 0, 0])

    def start(rng: np.random.Generator) -> dict[str, object]:
        return {"a": 0.0, "b": np.zeros(2 if rng.random() < 0.5 else 3)}

    fickle = aptmc.Power(lambda theta: 0.0, start)
    with pytest.raises(InputError, match="start must give 4 finite numbers"):
        fickle.draw_start(np.random.default_rng(2))
