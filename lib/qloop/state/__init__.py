"""What is written down: quantum.json with its owners and generations, and the journal."""
