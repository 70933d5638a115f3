"""The parts of a tree: folders that stand for them, and which imports from which. Pure."""

import ast
import functools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from qloop.mission.scout_languages import is_source
from qloop.mission.scout_tree import Tree, folder_of, parse_python
from qloop.repo.tracked import TrackedFile
from qloop.state.codebase import Area, Arrow, Source

MOST_AREAS = 30
_HALF = 0.5
_DEEPEST = 4
_PYTHON = re.compile(r".*\.py")
_SCRIPT = re.compile(r".*\.(?:[cm]?[jt]sx?|vue|svelte)")
_GO = re.compile(r".*\.go")
IMPORTING = re.compile("|".join(one.pattern for one in (_PYTHON, _SCRIPT, _GO)))
"""Files whose imports are looked at."""
_JS_IMPORT = re.compile(
    r"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](\.{1,2}/[^"'\n]*)["']"""
)
_GO_BLOCK = re.compile(r"^import\s*(?:\(([^)]*)\)|(?:\w+\s+)?(\"[^\"\n]+\"))", re.MULTILINE)
_GO_PATH = re.compile(r'"([^"\n]+)"')
_GO_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_ROOTS = ("", "src/", "lib/", "python/", "app/")

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where statements hold others."""

Import = tuple[str, int]
"""A tracked file or folder that is imported, and the line where."""


def areas_of(tree: Tree, known: Mapping[str, str | None]) -> tuple[Area, ...]:
    """The folders that stand for parts of the code, the largest first.

    A folder with more than half of the source is told by the folders in it.
    """
    files = [file for file in tree.files if is_source(known[file.path])]
    tops = _split(files)
    made = [_area(path, group, known) for path, group in tops.items()]
    return tuple(sorted(made, key=lambda one: (-one.bytes, one.path))[:MOST_AREAS])


def arrows_of(tree: Tree, areas: Sequence[Area]) -> tuple[tuple[Arrow, ...], int]:
    """Which areas import from which, the most frequent first; and how many files were looked at."""
    find = _finder(areas)
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], Source] = {}
    looked = 0
    for path, imports in _all_imports(tree):
        looked += 1
        tail = find(path)
        for target, line in imports:
            head = find(target)
            if tail is not None and head is not None and tail != head:
                counts[tail, head] += 1
                first.setdefault((tail, head), Source(path=path, line=line))
    arrows = [
        Arrow(tail=tail, head=head, count=count, source=first[tail, head])
        for (tail, head), count in counts.items()
    ]
    return tuple(sorted(arrows, key=lambda one: (-one.count, one.tail, one.head))), looked


def _split(files: Sequence[TrackedFile]) -> dict[str, list[TrackedFile]]:
    whole = sum(file.size for file in files)
    groups = _by_depth(files, 1)
    for depth in range(2, _DEEPEST + 1):
        size, largest = max(
            ((sum(file.size for file in group), path) for path, group in groups.items()),
            default=(0, "."),
        )
        inner = _by_depth(groups.get(largest, []), depth)
        if largest == "." or size <= _HALF * whole or set(inner) == {largest}:
            break
        if largest.count("/") == depth - 2:
            del groups[largest]
            groups.update(inner)
    return groups


def _by_depth(files: Iterable[TrackedFile], depth: int) -> dict[str, list[TrackedFile]]:
    groups: dict[str, list[TrackedFile]] = defaultdict(list)
    for file in files:
        folders = file.path.split("/")[:-1][:depth]
        groups["/".join(folders) or "."].append(file)
    return dict(groups)


def _area(path: str, files: Sequence[TrackedFile], known: Mapping[str, str | None]) -> Area:
    sizes: Counter[str] = Counter()
    for file in files:
        language = known[file.path]
        if language is not None:
            sizes[language] += file.size
    return Area(
        path=path,
        files=len(files),
        bytes=sum(file.size for file in files),
        languages=tuple(name for name, _ in sizes.most_common(3)),
    )


def _finder(areas: Sequence[Area]) -> Callable[[str], str | None]:
    paths = {area.path for area in areas}

    @functools.cache
    def find(path: str) -> str | None:
        if path in paths:
            return path
        return find(path.rpartition("/")[0] or ".") if path != "." else None

    return find


def _all_imports(tree: Tree) -> Iterator[tuple[str, list[Import]]]:
    modules = _modules(tree)
    prefixes = {
        found.group(1): folder_of(path)
        for path in tree.named("go.mod")
        if (found := _GO_MODULE.search(tree.texts[path]))
    }
    for path, text in tree.texts.items():
        if _PYTHON.fullmatch(path):
            yield path, sorted(_python_imports(path, text, modules), key=itemgetter(1))
        elif _SCRIPT.fullmatch(path):
            yield path, list(_script_imports(path, text))
        elif _GO.fullmatch(path):
            yield path, list(_go_imports(text, prefixes))


def _modules(tree: Tree) -> dict[str, str]:
    """Python modules by the names that they may be imported by."""
    found: dict[str, str] = {}
    for file in tree.files:
        if not file.path.endswith(".py"):
            continue
        for root in _ROOTS:
            if file.path.startswith(root):
                inner = file.path[len(root) : -3].removesuffix("/__init__")
                found.setdefault(inner.replace("/", "."), file.path)
    return found


def _python_imports(path: str, text: str, modules: Mapping[str, str]) -> Iterator[Import]:
    try:
        tree = parse_python(text)
    except (ValueError, RecursionError, MemoryError):
        return  # written for another Python, or a template
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = _absolute(path, node)
            names = [f"{start}.{alias.name}".strip(".") for alias in node.names]
        else:
            continue
        for name in names:
            target = modules.get(name) or modules.get(name.rpartition(".")[0])
            if target is not None:
                yield target, node.lineno


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """All statements, nested ones too; expressions hold none."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        parts = node.__dict__
        for name in _BLOCKS:
            if name in parts:
                waiting += parts[name]
        if isinstance(node, ast.stmt):
            yield node


def _absolute(path: str, node: ast.ImportFrom) -> str:
    """The module that an import names, a relative one as if from the root."""
    if not node.level:
        return node.module or ""
    folders = path.split("/")[:-1]
    kept = folders[: len(folders) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _script_imports(path: str, text: str) -> Iterator[Import]:
    folder = path.rpartition("/")[0]
    for match in _JS_IMPORT.finditer(text):
        parts: list[str] = folder.split("/") if folder else []
        for part in match.group(1).split("/"):
            if part == "..":
                parts = parts[:-1]
            elif part not in ("", "."):
                parts = [*parts, part]
        yield "/".join(parts), text.count("\n", 0, match.start(1)) + 1


def _go_imports(text: str, prefixes: Mapping[str, str]) -> Iterator[Import]:
    for block in _GO_BLOCK.finditer(text):
        for match in _GO_PATH.finditer(text, block.start(), block.end()):
            for prefix, folder in prefixes.items():
                if match.group(1).startswith(f"{prefix}/"):
                    inner = match.group(1)[len(prefix) + 1 :]
                    line = text.count("\n", 0, match.start()) + 1
                    yield (inner if folder == "." else f"{folder}/{inner}"), line
