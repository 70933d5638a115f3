"""Numbers of things for people. Pure."""

VOWELS = "aeiou"


def counted(number: int, thing: str) -> str:
    """A number and what it counts: `1 story`, `0 stories`, `1,200 files`.

    *thing* is in the singular and takes a regular plural; its last word is the one that does.
    """
    return f"{number:,} {thing if number == 1 else _plural(thing)}"


def _plural(thing: str) -> str:
    if thing.endswith("y") and thing[-2:-1] not in VOWELS:
        return f"{thing[:-1]}ies"
    return f"{thing}{'es' if thing.endswith(('s', 'x', 'ch', 'sh')) else 's'}"
