"""A plan as large as real ones get, always the same."""

from random import Random

from qloop.plan.model import Json

STATUSES = ("passed", "passed", "passed", "failed", "pending", "in_progress", "blocked")
VERBS = ("Store", "Show", "Check", "Export", "Search", "Rename", "Archive", "Price", "Translate")
THINGS = ("orders", "customers", "the invoice's lines", "tax rates by country", "stock levels")


def many_stories(count: int) -> list[Json]:
    """Stories that need one to three of the thirty before them, as plans do."""
    chance = Random(7)
    stories: list[Json] = []
    for number in range(count):
        earlier = [story["id"] for story in stories[-30:]]
        wanted = 0 if number % 17 == 0 else min(len(earlier), chance.choice((1, 1, 2, 3)))
        title = f"{chance.choice(VERBS)} {chance.choice(THINGS)} for the {number}. customer's clerk"
        stories.append(
            {
                "id": f"US-{number + 1:03d}",
                "title": title,
                "dependsOn": sorted(chance.sample(earlier, wanted)),
                "status": STATUSES[number % len(STATUSES)],
            }
        )
    return stories
