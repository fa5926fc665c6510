"""How much of the Gaussian mixture's posterior is near its narrow component, of kept draws.

python -m experiments.sbibm --draws-only --tasks gaussian_mixture --simulations 1e5
python -m experiments.sbibm.hills .cache/sbibm/draws
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

NEAR = 0.3  # three standard deviations of the narrow component


def share_near(draws: Any, centre: Any) -> float:
    """How many of the draws are so near."""
    return float((((draws - centre) ** 2).sum(axis=1) < NEAR**2).mean())


def main() -> None:
    """One line for each file. Both components have their centre at the observation."""
    for path in sorted(Path(sys.argv[1]).glob("gaussian_mixture-*.npz")):
        kept = np.load(path)
        centre = np.median(kept["reference"], axis=0)
        found = {name: share_near(kept[name], centre) for name in ("draws", "reference")}
        print(path.stem, *(f"{name} {share:.3f}" for name, share in found.items()))


if __name__ == "__main__":
    main()
