"""Who is at the other end of a local socket. Source: unix(7), SO_PEERCRED; macOS: LOCAL_PEERPID."""

import socket
import struct
import sys

import psutil

_LOCAL_PEERPID = 2
_CREDENTIALS = struct.Struct("3i")


def peer_pid(connection: socket.socket) -> int:
    """The process that connected. Raises OSError."""
    if sys.platform == "darwin":
        return connection.getsockopt(0, _LOCAL_PEERPID)
    size = _CREDENTIALS.size
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid: int = _CREDENTIALS.unpack(data)[0]
    return pid


def is_below(pid: int, ancestor: int) -> bool:
    """Whether a process is *ancestor* or was started, by whatever way, by it."""
    if pid == ancestor:
        return True
    try:
        return any(one.pid == ancestor for one in psutil.Process(pid).parents())
    except psutil.Error:
        return False
