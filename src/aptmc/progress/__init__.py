"""Progress: what a run is doing, for people who watch it."""

from aptmc.progress.live import LiveState, Sketch
from aptmc.progress.suitable_view import choose_view
from aptmc.progress.view import View
from aptmc.progress.watch import SHARE_OF_TIME, Watch

__all__ = ["SHARE_OF_TIME", "LiveState", "Sketch", "View", "Watch", "choose_view"]
