"""The paper's experiments, each a command: `python -m experiments.gamma_mixture --help`."""
