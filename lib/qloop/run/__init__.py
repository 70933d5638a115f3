"""The engine: driver, coordinator, attempt, gates, settling, recovery."""
