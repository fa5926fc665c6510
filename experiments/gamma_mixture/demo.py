"""What `make demo` shows: the bias, and its removal, in half a minute."""

from __future__ import annotations

from pathlib import Path

from aptmc.models import gamma_mixture
from experiments.gamma_mixture import bias
from experiments.gamma_mixture.figures import draw_bias
from experiments.gamma_mixture.samplers import APTMC_1_FED, APTMC_W

WIDTH = 40
INTRODUCTION = """\
Eight tempered chains sample a mixture with two equal halves. A move from the right half takes
longer: a time of mean x ** p. The chains swap states every 5 units of virtual time, without ever
waiting for each other. How much of the cold chain ends up in the left half? It should be one half.
"""
EXPLANATION = """\
Uncorrected, a deadline swaps whatever it finds, and it finds slow states more often: the answer is
wrong, and stays wrong however long one runs. The anytime schedule leaves chains in flight alone and
swaps only those that wait their turn: right for every p, and no processor was ever idle.
"""


def bar(share: float) -> str:
    """A bar with a mark at one half."""
    cells = ["█" if place < round(share * WIDTH) else "·" for place in range(WIDTH)]
    cells.insert(WIDTH // 2, "│")
    return "".join(cells)


def demo(output: Path) -> None:
    """Run a short bias experiment, print it as bars, and draw the figure."""
    print(INTRODUCTION)
    results = []
    for sampler, budget in ((APTMC_1_FED, 4e5), (APTMC_W, 1e5)):
        processors = (
            "1 processor" if sampler.processors == 1 else f"{sampler.processors} processors"
        )
        print(f"{sampler.name}, {processors}")
        for power in (1, 2, 3):
            for corrected in (False, True):
                result = bias.measure(
                    sampler, power, corrected=corrected, budget=budget * power**2, runs=8
                )
                results.append(result)
                share = result.below_middle
                name = "anytime" if corrected else "uncorrected"
                print(
                    f"  p = {power}  {name:11s}  {bar(share.value)}  {share.value:.3f}", flush=True
                )
        print()
    print(EXPLANATION)
    output.mkdir(parents=True, exist_ok=True)
    path = output / "demo.png"
    draw_bias(results, path)
    exact = gamma_mixture.PROBABILITY_BELOW_MIDDLE
    print(f"The exact share is {exact}. The densities are drawn in {path}")
