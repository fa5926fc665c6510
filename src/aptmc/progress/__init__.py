"""Progress: what a run is doing, for people who watch it."""

from aptmc.progress.glance import Glance, Sketch
from aptmc.progress.views import View, choose_view
from aptmc.progress.watch import SHARE_OF_TIME, Watch

__all__ = ["SHARE_OF_TIME", "Glance", "Sketch", "View", "Watch", "choose_view"]
