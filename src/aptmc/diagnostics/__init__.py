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
from aptmc.diagnostics.regression import adjust, epanechnikov, from_real_line, to_real_line
from aptmc.diagnostics.summarising import summarise, weighted_quantiles
from aptmc.diagnostics.summary import ParameterSummary, Summary
from aptmc.diagnostics.swaps import SwapRates, round_trips, swap_rates, utilisation

__all__ = [
    "AutocorrelationTime",
    "Estimate",
    "Evidence",
    "ParameterSummary",
    "Summary",
    "SwapRates",
    "adjust",
    "autocorrelation",
    "bulk_effective_sample_size",
    "effective_sample_size",
    "epanechnikov",
    "estimate_autocorrelation_time",
    "from_real_line",
    "integrated_autocorrelation_time",
    "log_evidence",
    "r_hat",
    "round_trips",
    "summarise",
    "swap_rates",
    "tail_effective_sample_size",
    "to_real_line",
    "utilisation",
    "weighted_quantiles",
]
