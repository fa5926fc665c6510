"""Six models of posteriordb here and by NumPyro's NUTS: `python -m experiments.posteriordb`."""

from __future__ import annotations

import argparse

from experiments.posteriordb.compare import Result, of_numpyro, ours
from experiments.posteriordb.models import MODELS, posterior


def line(name: str, who: str, found: Result) -> str:
    """A line of the table."""
    return (
        f"{name:42} {who:8} {found.mean_error:6.2f} {found.sd_error:6.2f} {found.r_hat:7.4f} "
        f"{found.effective:8.0f} {found.per_gradient:9.1f} {found.per_any_gradient:7.1f} "
        f"{found.seconds:8.1f}"
    )


def main() -> None:
    """Print a table: errors in standard errors, and effective draws per thousand gradients."""
    parser = argparse.ArgumentParser(prog="python -m experiments.posteriordb", description=__doc__)
    parser.add_argument("names", nargs="*", help="which posteriors (default: all)")
    parser.add_argument("--work", type=float, default=400_000, help="of each of our processors")
    parser.add_argument("--chains", type=int, help="of each of our rungs (default: auto)")
    parser.add_argument("--draws", type=int, default=2000, help="of each chain of NumPyro")
    options = parser.parse_args()
    head = f"{'posterior':42} {'by':8} {'means':>6} {'sds':>6} {'r-hat':>7} {'ess':>8}"
    print(f"{head} {'ess/1000':>9} {'of all':>7} {'seconds':>8}", flush=True)
    for name in options.names or MODELS:
        one = posterior(name)
        print(line(name, "NumPyro", of_numpyro(one, options.draws)), flush=True)
        print(line(name, "aptmc", ours(one, options.work, chains=options.chains)), flush=True)


if __name__ == "__main__":
    main()
