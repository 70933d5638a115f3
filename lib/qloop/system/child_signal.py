"""The signal that tells of a child's end. Source: waitpid(2)."""

import signal


def reset_child_signal() -> None:
    """Make exit statuses readable: an ignored SIGCHLD, which is inherited, discards them."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
