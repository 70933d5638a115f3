"""What a person sees; reads state and journal only."""
