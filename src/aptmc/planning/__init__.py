"""The planner: what would a run be like on other processors? `aptmc.plan`."""

from aptmc.planning.predicting import plan
from aptmc.planning.prediction import Prediction, Predictions

__all__ = ["Prediction", "Predictions", "plan"]
