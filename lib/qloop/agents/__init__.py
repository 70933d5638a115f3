"""Agent command lines as data: manifests, prompts, running one, reading its signal."""
