"""A model service on loopback, for agent command lines as they are installed.

It plays a written part: it calls the client's own tools as `Play` says, then gives its final
answer, in the dialect that the client speaks. It has no model in it.
"""

from model_server.faults import Fault, cut, hang, refuse, usage_limit
from model_server.play import Play, Shell, Write
from model_server.server import ModelServer, Seen

__all__ = [
    "Fault",
    "ModelServer",
    "Play",
    "Seen",
    "Shell",
    "Write",
    "cut",
    "hang",
    "refuse",
    "usage_limit",
]
