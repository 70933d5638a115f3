"""Everything git: attempt repositories, the guard, salvage, landing."""
