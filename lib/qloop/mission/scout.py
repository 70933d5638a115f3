"""The scout: reads a commit, and tells by code alone what the repository is.

What it reads is bounded: files up to a size, manifests up to a depth and number, imports up to so
many bytes. Errors: GitFailed, InternalFailure.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from qloop.mission.scout_areas import IMPORTING, areas_of, arrows_of
from qloop.mission.scout_builds import look_at_builds
from qloop.mission.scout_conventions import look_at_conventions
from qloop.mission.scout_documents import GOVERNING, documents_of, ui_of
from qloop.mission.scout_frameworks import framework_of
from qloop.mission.scout_languages import is_source, language_of, languages_of
from qloop.mission.scout_machines import look_at_machines
from qloop.mission.scout_make import look_at_recipes
from qloop.mission.scout_node import look_at_node
from qloop.mission.scout_python import look_at_python
from qloop.mission.scout_tree import (
    DEEPEST_MANIFEST,
    MOST_MANIFESTS,
    Tree,
    is_apart,
    together,
)
from qloop.mission.scout_xml import look_at_xml
from qloop.repo.repository import Repository
from qloop.repo.tracked import TrackedFile, last_subjects, list_tracked, read_tracked
from qloop.state.codebase import Command, Dependency, Facts, Size, Source, Unread
from qloop.system.counting import counted

LARGEST_BYTES = 500_000
"""A file of more is named and not read."""
MOST_SOURCE_BYTES = 4_000_000
"""Of source that is read for its imports."""
MOST_SCRIPTS = 300
"""Files without an ending that are read for their first line."""
SUBJECTS = 50

LOOKS = (
    look_at_recipes,
    look_at_python,
    look_at_node,
    look_at_builds,
    look_at_xml,
    look_at_machines,
    look_at_conventions,
)
_MANIFESTS = re.compile(
    r"(?:.*/)?(?:pyproject\.toml|setup\.cfg|tox\.ini|noxfile\.py|pytest\.ini|package\.json|"
    r"deno\.json|tsconfig\.json|\.prettierrc(?:\.json)?|Cargo\.toml|go\.mod|pom\.xml|"
    r"build\.gradle(?:\.kts)?|[^/]+\.(?:csproj|fsproj)|composer\.json|Gemfile|CMakeLists\.txt|"
    r"pubspec\.yaml|GNUmakefile|[Mm]akefile|\.?[Jj]ustfile|Taskfile\.ya?ml|Procfile|"
    r"Dockerfile(?:\.[\w-]+)?|Containerfile|\.editorconfig|[^/]*requirements[^/]*\.txt|"
    r"\.gitlab-ci\.yml|\.travis\.yml|azure-pipelines\.yml|bitbucket-pipelines\.yml)"
    r"|\.github/workflows/[^/]+\.ya?ml|\.circleci/config\.yml|\.woodpecker(?:/[^/]+)?\.yml"
)


def survey(repository: Repository, commit: str | None) -> Facts:
    """What *repository* is at *commit*; None: nothing is committed yet."""
    if commit is None:
        return facts_of((), {}, (), None)
    git = repository.git
    files = list_tracked(git, commit)
    wanted = choose_texts(files)
    texts = read_tracked(git, wanted)
    return facts_of(files, texts, last_subjects(git, commit, SUBJECTS), commit)


def choose_texts(files: Sequence[TrackedFile]) -> list[TrackedFile]:
    """The files whose texts are to be read: those that tell facts, then source for its imports."""
    ours = [file for file in files if not is_apart(file.path) and not file.is_link]
    small = [file for file in ours if file.size <= LARGEST_BYTES]
    chosen = {file.path: file for file in _telling(small)}
    nameless = (file for file in small if "." not in file.path.rpartition("/")[2])
    executable = sorted(nameless, key=lambda file: not file.is_executable)[:MOST_SCRIPTS]
    chosen |= {file.path: file for file in executable}
    chosen |= {file.path: file for file in _importing(small)}
    return list(chosen.values())


def facts_of(
    files: Sequence[TrackedFile],
    contents: Mapping[str, bytes],
    subjects: tuple[str, ...],
    commit: str | None,
) -> Facts:
    """The facts that a listing, the contents of some files, and commit subjects tell. Pure."""
    ours = tuple(file for file in files if not is_apart(file.path))
    everything = frozenset(file.path for file in files)
    texts = _texts(contents)
    tree = Tree(ours, texts, subjects, everything, _by_name(texts))
    known = {
        file.path: None if file.is_link else language_of(file.path, texts.get(file.path, "")[:200])
        for file in ours
    }
    found = together(look(tree) for look in LOOKS)
    needs = _named(found.dependencies)
    areas = areas_of(tree, known)
    arrows, looked = arrows_of(tree, areas)
    importing = sum(IMPORTING.fullmatch(file.path) is not None for file in ours)
    return Facts(
        commit=commit,
        fingerprint=fingerprint_of(files),
        size=_size(files, ours, known),
        languages=languages_of(ours, known),
        entry_points=found.entry_points,
        commands=_ordered(found.commands),
        conventions=tuple(dict.fromkeys(found.conventions)),
        documents=documents_of(tree),
        dependencies=needs,
        ui=ui_of(tree, needs),
        areas=areas,
        arrows=arrows,
        imports_read=looked,
        imports_left=importing - looked,
        unread=(*found.unread, *_too_large(ours), *_beyond(ours, texts)),
    )  # fmt: skip


def fingerprint_of(files: Iterable[TrackedFile]) -> str:
    """SHA-256 over the names of all files, and the contents of those that tell facts.

    So a change of code alone leaves it, and a new file, another command or rule does not.
    """
    made = hashlib.sha256()
    for file in sorted(files, key=lambda one: one.path):
        content = file.name if _tells(file.path) else ""
        made.update(f"{file.mode} {file.path}\0{content}\0".encode())
    return made.hexdigest()


def _texts(contents: Mapping[str, bytes]) -> dict[str, str]:
    """Those contents that are text."""
    return {
        path: data.decode("utf-8", "replace")
        for path, data in contents.items()
        if b"\0" not in data
    }


def _by_name(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in texts:
        found[path.rpartition("/")[2]].append(path)
    return {name: tuple(paths) for name, paths in found.items()}


def _tells(path: str) -> bool:
    """Whether facts are read from the file."""
    return _MANIFESTS.fullmatch(path) is not None or GOVERNING.fullmatch(path) is not None


def _telling(files: Sequence[TrackedFile]) -> list[TrackedFile]:
    """Files that tell facts, the outermost first, so many of a name and no deeper than so far."""
    groups: dict[str, list[TrackedFile]] = defaultdict(list)
    for file in files:
        if file.path.count("/") <= DEEPEST_MANIFEST and _tells(file.path):
            groups[file.path.rpartition("/")[2]].append(file)
    ranked = (sorted(group, key=_depth) for group in groups.values())
    return [file for group in ranked for file in group[:MOST_MANIFESTS]]


def _depth(file: TrackedFile) -> tuple[int, str]:
    return file.path.count("/"), file.path


def _importing(files: Sequence[TrackedFile]) -> list[TrackedFile]:
    """Source files that may import, from every folder some, until there are enough bytes."""
    rows: dict[str, list[TrackedFile]] = defaultdict(list)
    for file in files:
        if IMPORTING.fullmatch(file.path):
            rows[file.path.rpartition("/")[0]].append(file)
    ranked = [(rank, file) for group in rows.values() for rank, file in enumerate(group)]
    chosen, taken = [], 0
    for _, file in sorted(ranked, key=lambda one: (one[0], one[1].path)):
        taken += file.size
        if taken > MOST_SOURCE_BYTES:
            break
        chosen.append(file)
    return chosen


def _too_large(files: Iterable[TrackedFile]) -> list[Unread]:
    return [
        Unread(reason=f"more than {LARGEST_BYTES:,} bytes", source=Source(path=file.path))
        for file in files
        if file.size > LARGEST_BYTES and _tells(file.path)
    ]


def _beyond(files: Iterable[TrackedFile], texts: Mapping[str, str]) -> list[Unread]:
    """Of each name the files that were not read, since they are too many or too deep."""
    left: dict[str, list[str]] = defaultdict(list)
    for file in files:
        is_small = file.size <= LARGEST_BYTES and not file.is_link
        if is_small and file.path not in texts and _MANIFESTS.fullmatch(file.path):
            left[file.path.rpartition("/")[2]].append(file.path)
    return [
        Unread(
            reason=f"{counted(len(paths), 'file')} of this name: too many or too deep, or no text",
            source=Source(path=paths[0]),
        )
        for paths in left.values()
    ]


def _size(
    files: Sequence[TrackedFile], ours: Sequence[TrackedFile], known: dict[str, str | None]
) -> Size:
    source = [file for file in ours if is_source(known[file.path])]
    return Size(
        files=len(ours),
        bytes=sum(file.size for file in ours),
        source_files=len(source),
        source_bytes=sum(file.size for file in source),
        set_apart=len(files) - len(ours),
    )


def _ordered(commands: Iterable[Command]) -> tuple[Command, ...]:
    """Each command of a folder once: the root first, the declared before the implied and seen."""
    ranks = {"declared": 0, "inferred": 1, "seen": 2}

    def rank(one: Command) -> tuple[int, int, str, int]:
        depth = 0 if one.folder == "." else one.folder.count("/") + 1
        return depth, ranks[one.basis], one.purpose, len(re.split(r"[ /:.-]", one.command))

    found: dict[tuple[str, str], Command] = {}
    for one in sorted(commands, key=rank):
        found.setdefault((one.folder, one.command), one)
    return tuple(found.values())


def _named(dependencies: Iterable[Dependency]) -> tuple[Dependency, ...]:
    """Each dependency of a file once, with what it is for."""
    found: dict[tuple[str, str], Dependency] = {}
    for one in dependencies:
        kind = framework_of(one)
        found.setdefault((one.source.path, one.name), one.model_copy(update={"framework": kind}))
    return tuple(found.values())
