"""Doors to the machine: processes, files, time, errors, assets. Knows nothing of stories."""
