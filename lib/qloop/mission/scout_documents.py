"""Documents that say how to work in a tree, and what a person would look at. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from qloop.mission.scout_tree import Tree, is_beside
from qloop.state.codebase import Dependency, Document, Source, UiSign

MOST_DECISIONS = 30
_KINDS = (
    ("agents", r"(?:.*/)?(?:CLAUDE|AGENTS?|GEMINI|QWEN|CODEX)\.md"),
    ("agents", r"(?:.*/)?\.(?:cursor|windsurf|cline|goose)rules|\.cursor/rules/.+"),
    ("agents", r"\.github/copilot-instructions\.md|\.github/instructions/.+\.md|\.junie/.+\.md"),
    ("contributors", r"(?:\.github/|docs/)?(?:CONTRIBUTING|HACKING|STYLE\w*)(?:\.\w+)?"),
    ("contributors", r"(?:docs/)?(?:DEVELOPMENT|DEVELOPING)(?:\.\w+)?"),
    ("contributors", r"(?:\.github/)?(?:pull_request_template|PULL_REQUEST_TEMPLATE)\.md"),
    ("readers", r"README(?:\.\w+)?"),
    ("readers", r"(?:docs/)?(?:ARCHITECTURE|architecture|DESIGN|design)\.(?:md|rst|adoc)"),
    ("decisions", r"(?:docs?/(?:architecture/)?)?(?:adrs?|decisions|rfcs?)/.+\.(?:md|rst|adoc)"),
    ("owners", r"(?:\.github/|docs/)?CODEOWNERS|OWNERS|MAINTAINERS(?:\.md)?"),
    ("owners", r"(?:\.github/)?SECURITY\.md"),
    ("license", r"LICEN[CS]E(?:\.\w+)?|COPYING"),
)  # fmt: skip
GOVERNING = re.compile("|".join(f"(?:{pattern})" for _, pattern in _KINDS))
_HEADING = re.compile(r"^(?:#{1,3}[ \t]+(.+?)[ \t]*#*|(\S.*)\n(?:=|-){3,})$", re.MULTILINE)

_UI_FILES = {
    "HTML": "html htm xhtml", "CSS": "css scss sass less styl", "JSX": "jsx tsx",
    "Vue": "vue", "Svelte": "svelte", "Astro": "astro",
    "templates": "jinja jinja2 j2 erb ejs hbs handlebars mustache twig liquid pug haml slim "
    "cshtml razor blade.php", "QML": "qml", "interface files": "xib storyboard ui glade",
}  # fmt: skip
_UI_ENDINGS = {end: kind for kind, ends in _UI_FILES.items() for end in ends.split()}


def documents_of(tree: Tree) -> tuple[Document, ...]:
    """The governing documents of a tree, by whom they are for."""
    found: list[Document] = []
    governing = [file for file in tree.files if GOVERNING.fullmatch(file.path)]
    for kind, pattern in _KINDS:
        wanted = re.compile(pattern)
        files = [file for file in governing if wanted.fullmatch(file.path)]
        for file in files[:MOST_DECISIONS]:
            title, line = _title(tree.texts.get(file.path, ""))
            source = Source(path=file.path, line=line)
            found.append(Document(kind=kind, title=title, bytes=file.size, source=source))
    return tuple(found)


def ui_of(tree: Tree, dependencies: Sequence[Dependency]) -> tuple[UiSign, ...]:
    """What a person would look at; not in folders of tests, examples and documents."""
    return (*_ui_files(tree), *_ui_frameworks(dependencies))


def _title(text: str) -> tuple[str, int | None]:
    """A document's first heading, and its line."""
    found = _HEADING.search(text)
    if found is None:
        return "", None
    return (found.group(1) or found.group(2)).strip()[:120], text.count("\n", 0, found.start()) + 1


def _ui_files(tree: Tree) -> Iterator[UiSign]:
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for file in tree.files:
        name = file.path.rpartition("/")[2].lower()
        ending = "blade.php" if name.endswith(".blade.php") else name.rpartition(".")[2]
        kind = _UI_ENDINGS.get(ending) if "." in name else None
        if kind is not None and not is_beside(file.path):
            counts[kind] += 1
            first.setdefault(kind, file.path)
    for kind, count in counts.most_common():
        yield UiSign(kind=kind, count=count, source=Source(path=first[kind]))


def _ui_frameworks(dependencies: Sequence[Dependency]) -> Iterator[UiSign]:
    seen: set[str] = set()
    for one in dependencies:
        if one.framework == "ui" and one.use == "run" and one.name not in seen:
            seen.add(one.name)
            yield UiSign(kind=one.name, count=1, source=one.source)
