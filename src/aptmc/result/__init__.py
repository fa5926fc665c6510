"""What a run gives: draws, summary, advice, report, exports."""

from aptmc.result.run import Run

__all__ = ["Run"]
