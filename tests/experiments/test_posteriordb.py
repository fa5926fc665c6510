"""Models of posteriordb: draws have the means and widths of its reference draws."""

import pytest

from experiments.posteriordb.compare import ours

pytest.importorskip("numpyro")
# Of some twenty means and widths, one is beyond in fewer than one of 500 runs.
FAR = 4.0


@pytest.mark.validation
@pytest.mark.parametrize("name", ["eight_schools-eight_schools_noncentered", "arK-arK"])
def test_draws_are_those_of_the_reference(name):
    from experiments.posteriordb.models import posterior

    one = posterior(name)
    found = ours(one, 400_000)
    assert found.mean_error < FAR
    assert found.sd_error < FAR
    assert found.r_hat < 1.01
    # A mean that is a tenth of a standard deviation off is seen.
    wrong = {
        key: [mean + 0.1 * sd, *more, sd, error]
        for key, (mean, *more, sd, error) in one.reference.items()
    }
    assert ours(one._replace(reference=wrong), 400_000).mean_error > FAR
