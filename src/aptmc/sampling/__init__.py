"""The public calls, and the phases of a run: prepare, warm up, sample, conclude."""

from aptmc.sampling.calls import resume, sample, start
from aptmc.sampling.enough import Effective, RHat
from aptmc.sampling.handle import RunHandle
from aptmc.sampling.opening import open
from aptmc.sampling.replaying import replay

__all__ = ["Effective", "RHat", "RunHandle", "open", "replay", "resume", "sample", "start"]
