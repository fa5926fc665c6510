"""Diagnostics: arrays in, numbers out. Pure functions that do no I/O and read no clock."""

from aptmc.diagnostics.autocorrelation import (
    AutocorrelationTime,
    autocorrelation,
    effective_sample_size,
    estimate_autocorrelation_time,
    integrated_autocorrelation_time,
)
from aptmc.diagnostics.convergence import (
    bulk_effective_sample_size,
    r_hat,
    tail_effective_sample_size,
)
from aptmc.diagnostics.evidence import Estimate, Evidence, log_evidence
from aptmc.diagnostics.summary import ParameterSummary, Summary, summarise
from aptmc.diagnostics.swaps import SwapRates, round_trips, swap_rates, utilisation

__all__ = [
    "AutocorrelationTime",
    "Estimate",
    "Evidence",
    "ParameterSummary",
    "Summary",
    "SwapRates",
    "autocorrelation",
    "bulk_effective_sample_size",
    "effective_sample_size",
    "estimate_autocorrelation_time",
    "integrated_autocorrelation_time",
    "log_evidence",
    "r_hat",
    "round_trips",
    "summarise",
    "swap_rates",
    "tail_effective_sample_size",
    "utilisation",
]
