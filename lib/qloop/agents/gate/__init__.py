"""The pre-action gate: what an agent of a role may do with a tool, decided before it is done."""
