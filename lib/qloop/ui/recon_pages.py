"""What a repository is, on pages: the report of its facts, and the drawing of its parts. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from qloop.state.codebase import Arrow, Command, Document, Facts
from qloop.system.counting import counted
from qloop.ui.mermaid import escape
from qloop.ui.report_markdown import code, fenced, plain

MOST_ROWS = 60
"""Rows of one table; the page says how many more there are."""
MOST_ARROWS = 60
_BASES = {"declared": "declared", "inferred": "implied by settings", "seen": "seen in CI"}

Row = Sequence[str]


def render_recon_report(facts: Facts) -> str:
    """RECON_REPORT.md: each fact with the place that it was read from."""
    lines = ["# What this repository is", "", *_head(facts), *_languages(facts)]
    lines += _section("Entry points", ("kind", "name", "leads to", "read from"), _entries(facts))
    lines += _commands(facts)
    lines += _section("Conventions", ("about", "what", "read from"), _conventions(facts))
    lines += _section(
        "Governing documents", ("for", "document", "title", "size"), map(_document, facts.documents)
    )
    lines += _dependencies(facts)
    lines += _ui(facts)
    lines += _section("Not read", ("file", "why"), _unread(facts), "Every file could be read.")
    return "\n".join(lines) + "\n"


def render_architecture(facts: Facts) -> str:
    """ARCHITECTURE.md: the parts of the code, where it begins, and what imports from what."""
    lines = ["# The parts of this repository", ""]
    areas = (
        (code(one.path), str(one.files), size_text(one.bytes), ", ".join(one.languages))
        for one in facts.areas
    )
    lines += _section("Folders", ("folder", "source files", "size", "languages"), areas)
    lines += _section("Where it begins", ("kind", "name", "leads to", "read from"), _entries(facts))
    lines += _section("Who imports from whom", ("from", "to", "times", "first"), _arrows(facts))
    if facts.imports_left:
        whole = facts.imports_read + facts.imports_left
        lines += ["", f"Imports were read in {facts.imports_read} of {whole} files."]
    if facts.areas:
        lines += ["", "## Drawing", *fenced(_mermaid(facts), "mermaid")]
    return "\n".join(lines).rstrip("\n") + "\n"


def recon_lines(facts: Facts) -> Iterator[str]:
    """The facts for a terminal: what a newcomer asks first, each with where it was read."""
    yield _commit_words(facts)
    yield size_words(facts)
    named = [one for one in facts.languages if one.is_source]
    if named:
        yield "languages   " + ", ".join(f"{one.name} {_share(one.share)}" for one in named[:8])
    for title, rows in _groups(facts):
        if rows:
            yield ""
            yield title
            yield from _aligned(rows)


def recon_summary(facts: Facts) -> str:
    """All of it in one line: size, languages, and what tests it."""
    words = [size_words(facts)]
    named = [one.name for one in facts.languages if one.is_source][:3]
    if named:
        words.append(", ".join(named))
    test = facts.find_command("test")
    words.append("no test command is certain" if test is None else f"tests: {test.command}")
    return "; ".join(words)


def size_words(facts: Facts) -> str:
    """How much there is, in one line."""
    size = facts.size
    apart = f"; {size.set_apart} vendored or generated set apart" if size.set_apart else ""
    files = counted(size.files, "file")
    if facts.is_greenfield:
        return f"greenfield: {files}, no source yet{apart}"
    source = f"{size.source_files} of source ({size_text(size.source_bytes)})"
    return f"{files}, {source}{apart}"


def size_text(number: int) -> str:
    """Bytes as people say them."""
    for unit, width in (("MB", 1_000_000), ("kB", 1_000)):
        if number >= width:
            return f"{number / width:.1f} {unit}"
    return f"{number} B"


def _share(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 or share == 0 else "<1%"


def _commit_words(facts: Facts) -> str:
    return "no commit yet" if facts.commit is None else f"commit {facts.commit[:12]}"


def _groups(facts: Facts) -> Iterator[tuple[str, list[Row]]]:
    yield "entry points", [(one.name, one.target, one.source.text) for one in facts.entry_points]
    told = [one for one in facts.commands if one.basis != "seen"]
    yield "commands", [(one.purpose, _command_words(one), one.source.text) for one in told]
    seen = [one for one in facts.commands if one.basis == "seen"]
    yield "seen in CI", [(one.purpose, one.command, one.source.text) for one in seen]
    yield "conventions", [(one.topic, one.text, one.source.text) for one in facts.conventions]
    yield "governing documents", [(one.kind, one.title, one.source.text) for one in facts.documents]
    known = [one for one in facts.dependencies if one.framework]
    yield "built with", [(one.framework or "", one.name, one.source.text) for one in known]
    yield "user interface", [(one.kind, f"{one.count}", one.source.text) for one in facts.ui]
    yield "not read", [(one.source.path, one.reason, "") for one in facts.unread]


def _command_words(one: Command) -> str:
    return one.command if one.folder == "." else f"{one.command} (in {one.folder})"


def _aligned(rows: Sequence[Row], most: int = 20) -> Iterator[str]:
    first = max(len(row[0]) for row in rows[:most])
    second = min(50, max(len(row[1]) for row in rows[:most]))
    for row in rows[:most]:
        yield f"  {row[0]:<{first}}  {row[1]:<{second}}  {row[2]}".rstrip()
    if len(rows) > most:
        yield f"  … and {len(rows) - most} more (--json has all)"


def _head(facts: Facts) -> Iterator[str]:
    yield f"{_commit_words(facts)}; {plain(size_words(facts))}."
    yield from ("", f"Fingerprint {code(facts.fingerprint)}.")


def _languages(facts: Facts) -> list[str]:
    rows = (
        (
            plain(one.name),
            str(one.files),
            size_text(one.bytes),
            _share(one.share) if one.is_source else "",
            code(one.source.path),
        )
        for one in facts.languages
    )
    return _section("Languages", ("language", "files", "size", "of source", "largest file"), rows)


def _entries(facts: Facts) -> Iterator[Row]:
    for one in facts.entry_points:
        yield (plain(one.kind), plain(one.name), code(one.target), code(one.source.text))


def _commands(facts: Facts) -> list[str]:
    rows = (
        (
            one.purpose,
            code(one.command),
            code(one.folder),
            _BASES[one.basis],
            code(one.source.text),
        )
        for one in facts.commands
    )
    return _section("Commands", ("for", "command", "in", "basis", "read from"), rows)


def _conventions(facts: Facts) -> Iterator[Row]:
    for one in facts.conventions:
        yield (plain(one.topic), plain(one.text), code(one.source.text))


def _document(one: Document) -> Row:
    return (plain(one.kind), code(one.source.path), plain(one.title), size_text(one.bytes))


def _dependencies(facts: Facts) -> list[str]:
    ordered = sorted(facts.dependencies, key=lambda one: (one.framework is None, one.use != "run"))
    rows = (
        (
            plain(one.name),
            plain(one.version),
            plain(one.framework or ""),
            one.use,
            code(one.source.text),
        )
        for one in ordered
    )
    return _section("Dependencies", ("name", "version", "kind", "use", "read from"), rows)


def _ui(facts: Facts) -> list[str]:
    rows = ((plain(one.kind), str(one.count), code(one.source.text)) for one in facts.ui)
    nothing = "Nothing that a person would look at was found."
    return _section("User interface", ("sign", "count", "first"), rows, nothing)


def _unread(facts: Facts) -> Iterator[Row]:
    for one in facts.unread:
        yield (code(one.source.text), plain(one.reason))


def _arrows(facts: Facts) -> Iterator[Row]:
    for one in facts.arrows:
        yield (code(one.tail), code(one.head), str(one.count), code(one.source.text))


def _section(
    title: str, columns: Row, rows: Iterable[Row], nothing: str = "None was found."
) -> list[str]:
    made = list(rows)
    lines = ["", f"## {title}", ""]
    if not made:
        return [*lines, nothing]
    lines += [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    lines += [f"| {' | '.join(row)} |" for row in made[:MOST_ROWS]]
    if len(made) > MOST_ROWS:
        lines += ["", f"… and {len(made) - MOST_ROWS} more; `qloop recon --json` has all."]
    return lines


def _mermaid(facts: Facts) -> str:
    """Areas as boxes, imports as arrows; where there are many, the most frequent ones."""
    names = {area.path: f"a{number}" for number, area in enumerate(facts.areas, start=1)}
    drawn: list[Arrow] = [one for one in facts.arrows if one.tail in names and one.head in names]
    lines = ["flowchart LR"]
    for area in facts.areas:
        words = escape(", ".join(area.languages))
        lines.append(f'  {names[area.path]}["{escape(area.path)}<br/>{words}"]')
    for one in drawn[:MOST_ARROWS]:
        lines.append(f"  {names[one.tail]} -->|{one.count}| {names[one.head]}")
    return "\n".join(lines)
