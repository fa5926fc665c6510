"""An operation of PyTensor in plain Python. Imported only where PyTensor is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op


class SquaredSum(Op):
    __props__ = ()

    def make_node(self, theta: Any) -> Any:
        return Apply(self, [pt.as_tensor_variable(theta)], [pt.dscalar()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        outputs[0][0] = np.asarray(inputs[0].sum() ** 2)
