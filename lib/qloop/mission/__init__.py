"""Missions: phases and their coordinators, checkpoints, budget, intents."""
