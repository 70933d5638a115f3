"""The plan as values: model, DAG, validation, and the way from a PRD to a plan."""
