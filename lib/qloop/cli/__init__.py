"""The door: click commands, one call each, and the exit codes."""
