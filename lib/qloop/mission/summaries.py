"""`execution/summaries/<story>.md`: what became of each story that has passed. Pure but for git.

The front matter is for what comes later: what the story needed, gives and touches; the body for
people: what was asked, what shows that it is done, and how it came about. Errors: GitFailed.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from qloop.mission.warming import gotchas_of
from qloop.plan.model import Plan, ReviewPart, Status, Story
from qloop.repo.checkout import Repository
from qloop.repo.landing_filter import changes_between
from qloop.state.journal import Event, EventKind
from qloop.ui.attempts import Attempt, attempts_of
from qloop.ui.story import attempt_words

FOLDER = "execution/summaries"


@dataclass(frozen=True, slots=True)
class KeyFiles:
    """The files that a landed commit touched, by path."""

    created: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def summaries_of(
    repository: Repository, plan: Plan, events: Sequence[Event]
) -> Iterator[tuple[str, str]]:
    """For each story that has passed, the file's name in the intent's folder, and its text."""
    landed = {
        event.story: str(event.data.get("commit"))
        for event in events
        if event.event is EventKind.STORY_LANDED
    }
    for story in plan.stories:
        if story.status is Status.PASSED:
            commit = landed.get(story.id)
            files = KeyFiles() if commit is None else key_files(repository, commit)
            attempts = attempts_of(story, events, {})
            text = render_summary(plan, story, commit, files, attempts)
            yield f"{FOLDER}/{story.id}.md", text


def key_files(repository: Repository, commit: str) -> KeyFiles:
    """What a commit of the line did to which files; nothing where git has it no more."""
    git = repository.git
    if git.find(f"{commit}^{{commit}}") is None:
        return KeyFiles()
    changes = changes_between(git, f"{commit}^", commit)
    return KeyFiles(
        created=tuple(one.path for one in changes if not one.was_there),
        modified=tuple(one.path for one in changes if one.was_there and one.is_there),
        removed=tuple(one.path for one in changes if not one.is_there),
    )


def render_summary(
    plan: Plan, story: Story, commit: str | None, files: KeyFiles, attempts: Sequence[Attempt]
) -> str:
    """One story's summary."""
    return "\n".join([*_front(plan, story, commit, files), *_body(story, attempts)]) + "\n"


def _front(plan: Plan, story: Story, commit: str | None, files: KeyFiles) -> Iterator[str]:
    dependants = [one.id for one in plan.stories if story.id in one.depends_on]
    gives = story.acceptance_criteria or [story.title or story.id]
    removed = [f"  removed: {_listed(files.removed)}"] if files.removed else []
    yield from (
        "---",
        f"story: {_quoted(story.id)}",
        f"title: {_quoted(story.title or '')}",
        f"requires: {_listed(story.depends_on)}",
        f"provides: {_listed(gives)}",
        f"affects: {_listed(dependants)}",
        "key-files:",
        f"  created: {_listed(files.created)}",
        f"  modified: {_listed(files.modified)}",
        *removed,
        f"commits: {_listed([commit] if commit else [])}",
        f"lessons: {_listed(gotchas_of(story))}",
        "---",
        "",
    )


def _body(story: Story, attempts: Sequence[Attempt]) -> Iterator[str]:
    yield f"# {story.label}"
    yield from ("", story.description.strip()) if story.description else ()
    if story.acceptance_criteria:
        yield from ("", "## Asked for", "")
        yield from (f"- {one}" for one in story.acceptance_criteria)
    yield from ("", "## Evidence", "")
    yield from _evidence("spec", story.review.spec_compliance)
    yield from _evidence("quality", story.review.code_quality)
    yield from ("", "## Attempts", "")
    yield from (line for one in attempts for line in _attempt(one))


def _evidence(name: str, part: ReviewPart) -> Iterator[str]:
    first, *rest = str(part.evidence or "nothing was noted").strip().splitlines() or [""]
    yield f"- {name} {part.status}: {first}"
    yield from (f"  {line}" for line in rest)


def _attempt(one: Attempt) -> Iterator[str]:
    who = f" by {one.runner}" if one.runner else ""
    yield f"- attempt {one.number or '?'}{who}: {attempt_words(one)}"
    if one.reason:
        yield f"  {one.reason.strip().splitlines()[0]}"


def _listed(items: Iterable[str]) -> str:
    """A list as YAML reads it in one line."""
    return f"[{', '.join(map(_quoted, items))}]"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
