# Written by `python -m tests.public_stub`; do not edit.

from thetahat.models.neural.graph import NetworkGraph as NetworkGraph
from thetahat.models.neural.network import Network as Network
from thetahat.models.neural.steps import step_network as step_network
from thetahat.models.neural.torch_exchange import from_torch as from_torch
from thetahat.objective.network.batch_norm import BatchNorm as BatchNorm
from thetahat.objective.network.dense import Dense as Dense
from thetahat.objective.network.elementwise import Activation as Activation
from thetahat.objective.network.elementwise import Dropout as Dropout
from thetahat.objective.network.layer import Layer as Layer
from thetahat.objective.network.residual import Residual as Residual

__all__ = [
    "Activation",
    "BatchNorm",
    "Dense",
    "Dropout",
    "Layer",
    "Network",
    "NetworkGraph",
    "Residual",
    "from_torch",
    "step_network",
]
