"""Where a person keeps what holds for all their projects."""

from pathlib import Path

import platformdirs


def own_folder() -> Path:
    """The folder of qloop's own settings: `~/.config/qloop`, or as the system has it."""
    return platformdirs.user_config_path("qloop", appauthor=False)
