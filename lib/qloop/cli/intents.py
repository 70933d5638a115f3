"""What `intent` does once its words are parsed."""

from dataclasses import asdict
from pathlib import Path

from qloop.agents.roles import role_names
from qloop.cli.accounting import read_words
from qloop.mission.hub import hub_folder
from qloop.mission.intent_end import Ending, end_intent
from qloop.mission.stage_gate import Write, find_early_outcome, find_gaps, judge_write
from qloop.mission.standing import read_standing
from qloop.mission.team import check_role
from qloop.repo.checkout import Repository, find_repository
from qloop.repo.exclude import ensure_excluded, exclude_intents
from qloop.repo.settings import read_settings
from qloop.run.config import load_config
from qloop.run.holder import private_folder
from qloop.run.inside import check_outside
from qloop.run.planning import path_in_plan, read_text
from qloop.state.insights import add_insight
from qloop.state.intent import plain_lines
from qloop.state.intent_index import INDEX, Group, clustered, parse_index
from qloop.state.intents import (
    change_index,
    create_intent,
    find_intent,
    intents_folder,
    read_index,
)
from qloop.state.lifecycle import Disposition, document_of, lifecycle_of
from qloop.state.projects import find_project
from qloop.state.savepoints import read_ledger, rebuild_ledger
from qloop.system.counting import counted
from qloop.system.errors import UsageWrong
from qloop.ui import console
from qloop.ui.intent_next import next_command
from qloop.ui.intents import read_intent, read_intents, show_one, show_rows

REFUSED = 1


def make_intent(
    text: str | None,
    source: Path | None,
    *,
    tags: tuple[str, ...],
    chain: tuple[str, ...],
    later: bool,
    project: str | None,
    as_json: bool,
) -> int:
    """Make an intent, and print its folder."""
    repository = find_repository(Path.cwd() if project is None else find_project(project).path)
    check_outside(repository, "intent new")
    words = (text or "") if source is None else read_text(source)
    root = _root(repository) if project is None else hub_folder()
    before = [find_intent(root, word).id for word in chain]
    if project is None:
        ensure_excluded(repository, repository.root / "quantum.json")
        exclude_intents(repository, root)
    made = create_intent(
        root,
        words,
        author=read_settings(repository).name,
        sources=() if source is None else (path_in_plan(source, repository.root),),
        chain=before,
        tags=tags if project is None else (*tags, f"project-{project}"),
        group=Group.FUTURE if later else Group.ACTIVE,
    )
    if as_json:
        console.print_json(read_intent(root, made).to_json())
    else:
        console.result(str(made.folder))
        console.say(_next_of_new(made.id, project, is_later=later))
    return 0


def _next_of_new(number: int, project: str | None, *, is_later: bool) -> str:
    """What comes after an intent is made."""
    if project is not None:
        wanted = f"move it to Active in {hub_folder() / INDEX}, then: " if is_later else ""
        return f"next: {wanted}qloop main"
    return f"{'once it is wanted' if is_later else 'next'}: qloop auto {number}"


def list_here(*, as_json: bool) -> int:
    """All intents."""
    rows = read_intents(_root(find_repository(Path.cwd())))
    if as_json:
        console.print_json([row.to_json() for row in rows])
    elif rows:
        show_rows(rows)
    else:
        console.say("there are no intents yet; make one: qloop intent new TEXT")
    return 0


def show_intent(word: str, *, as_json: bool) -> int:
    """One intent."""
    root = _root(find_repository(Path.cwd()))
    view = read_intent(root, find_intent(root, word))
    if as_json:
        console.print_json(view.to_json())
    else:
        show_one(view)
        console.result(f"\n  next  {next_command(view)}")
    return 0


def group_intents(name: str, words: tuple[str, ...]) -> int:
    """Put intents into a cluster."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "intent group")
    cluster = " ".join(name.split()).strip("# ")
    if not cluster or not cluster.isprintable():
        raise UsageWrong(f"{name!r} is no cluster's name", fix="name it in a few words")
    root = _root(repository)
    members = [find_intent(root, word) for word in words]
    if change_index(root, lambda text: clustered(text, cluster, members)):
        console.say(f"{cluster}: {', '.join(one.name for one in members)}")
    else:
        console.say(f"{cluster} has them already")
    return 0


def end_here(word: str, disposition: str, note: str) -> int:
    """Bring an intent to its end."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "intent end")
    found = find_intent(_root(repository), word)
    ending = Ending(private_folder(repository), found, Disposition(disposition), note)
    steps = 0
    for step in end_intent(ending):
        console.say(step)
        steps += 1
    told = "" if steps else ", and was before"
    console.say(f"intent {found.id} is {disposition}{told}")
    return 0


def check_files(word: str, *, as_json: bool) -> int:
    """What stands in an intent's folder and should not yet."""
    root = _root(find_repository(Path.cwd()))
    intent = find_intent(root, word)
    gaps = list(find_gaps(lifecycle_of(intent)))
    is_over = parse_index(read_index(root)).ending_of(intent.id) is not None
    early = None if is_over else find_early_outcome(lifecycle_of(intent), intent.id)
    gaps += [early] if early is not None else []
    if as_json:
        console.print_json([asdict(gap) for gap in gaps])
    for gap in () if as_json else gaps:
        console.result(console.printable(f"{gap.rule}: {gap.reason}; {gap.fix}"))
    if not gaps and not as_json:
        console.result(f"intent {intent.id}: nothing is there that should not be yet")
    return REFUSED if gaps else 0


def check_write(word: str, path: str, role: str | None, source: Path, *, as_json: bool) -> int:
    """Whether a file may be written into an intent's folder."""
    root = _root(find_repository(Path.cwd()))
    intent = find_intent(root, word)
    folder = intent.folder.resolve()
    place = (folder / path).resolve()
    if not place.is_relative_to(folder):
        raise UsageWrong(f"{path!r} leads out of the intent's folder", fix="say it from there")
    name = None if role is None else check_role(role, role_names())
    seen = place.relative_to(folder).as_posix()
    write = Write(seen, plain_lines(read_words(source)), name)
    refusal = judge_write(lifecycle_of(intent), write)
    if as_json:
        told = {"allow": refusal is None, "rule": None, "reason": "no rule is against it"}
        told |= {} if refusal is None else {"rule": refusal.rule, "reason": refusal.reason}
        console.print_json(told)
    elif refusal is not None:
        console.result(console.printable(f"{refusal.rule}: {refusal.reason}; {refusal.fix}"))
    else:
        console.result(console.printable(f"{seen}: no rule is against it"))
    return 0 if refusal is None else REFUSED


def note_insight(word: str, text: str, author: str, *, is_autonomous: bool) -> int:
    """Write an insight down, and print its line."""
    folder = Path(word)
    if document_of(folder) is None:
        folder = find_intent(_root(find_repository(Path.cwd())), word).folder
    stage = read_standing(folder).stage
    line = add_insight(folder, text, stage=stage, author=author, is_autonomous=is_autonomous)
    console.result(console.printable(line))
    return 0


def rebuild_savepoints(word: str) -> int:
    """Make an intent's ledger whole again."""
    repository = find_repository(Path.cwd())
    check_outside(repository, "intent rebuild")
    root = _root(repository)
    found = find_intent(root, word)
    before = len(read_ledger(found.folder))
    if not rebuild_ledger(found.folder, parse_index(read_index(root)).ending_of(found.id)):
        console.say("savepoint.md lacks nothing")
        return 0
    added = len(read_ledger(found.folder)) - before
    console.say(f"savepoint.md: {counted(added, 'more line')}")
    return 0


def _root(repository: Repository) -> Path:
    return intents_folder(repository.root, load_config(repository.root).intents_root)
