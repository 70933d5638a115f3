"""Making, updating and replacing the plan from its requirements document.

Errors: InputMissing, BadInput, Faults from the document; RepositoryBusy while a run is on.
"""

from dataclasses import dataclass
from pathlib import Path

from qloop.plan.document import load_document, render_document
from qloop.plan.model import Json, Plan
from qloop.plan.update import PlanUpdate, archive_name, is_finished, update_plan
from qloop.plan.validate import check_plan
from qloop.state.store import Store
from qloop.system.clock import utc_now
from qloop.system.counting import counted
from qloop.system.errors import BadInput, InputMissing
from qloop.system.files import write_atomic


@dataclass(frozen=True, slots=True)
class Planned:
    """What `qloop plan` did, for people."""

    document: Json
    lines: tuple[str, ...]


def make_plan(prd: Path, root: Path) -> Json:
    """Compile *prd*; its path stands in the plan relative to *root* where it lies there."""
    from qloop.plan.prd import compile_prd  # what reads documents is loaded where one is read

    return compile_prd(read_text(prd), path=path_in_plan(prd, root), now=utc_now())


def path_in_plan(prd: Path, root: Path) -> str:
    """A document's path as a plan names it."""
    resolved = prd.resolve()
    return str(resolved.relative_to(root) if resolved.is_relative_to(root) else resolved)


def plan_into(store: Store, prd: Path, root: Path, *, update: bool, archive: Path) -> Planned:
    """Write the plan of *prd*: a new one, an updated one, or one in a finished one's place."""
    made = make_plan(prd, root)
    check_plan(made, str(prd))
    former = take_former(store, f"qloop plan --update {prd}", update=update)
    return put_plan(store, made, former, prd, update=update, archive=archive)


def take_former(store: Store, way: str, *, update: bool) -> Json | None:
    """The plan that another one is to take the place of; None where there is none.

    Raises BadInput for one that is not finished, unless it is an *update*; *way* is the command
    that makes one.
    """
    if not store.path.exists():
        return None
    former = store.read()
    check_plan(former, str(store.path))
    if update or is_finished(former):
        return former
    raise BadInput(
        f"{store.path.name} holds a plan that is not finished",
        where=str(store.path),
        fix=f"`{way}` takes a change into it, `--out FILE` makes another plan, "
        "or move the file away",
    )


def put_plan(
    store: Store, made: Json, former: Json | None, prd: Path, *, update: bool, archive: Path
) -> Planned:
    """Write a plan that was *made*, in the place of *former* or, for an *update*, over it."""
    if former is None:
        store.replace(made)
        return Planned(made, (f"{counted(len(made['stories']), 'story')} in {store.path.name}",))
    if update:
        updated = update_plan(former, made)
        check_plan(updated.document, str(prd))
        store.replace(updated.document)
        return Planned(updated.document, _update_lines(updated))
    kept = archive / archive_name(former, utc_now())
    write_atomic(kept, render_document(former))
    store.replace(made)
    count = counted(len(made["stories"]), "story")
    return Planned(made, (f"{count}; the finished plan is kept as {kept}",))


def read_or_make(quantum: Path, prd: Path | None, root: Path) -> Plan:
    """The plan as it stands, or as it would be made from *prd*; nothing is written."""
    if not quantum.exists() and prd is not None:
        return check_plan(make_plan(prd, root), str(prd))
    return check_plan(load_document(quantum), str(quantum))


def _update_lines(updated: PlanUpdate) -> tuple[str, ...]:
    groups = {
        "kept": updated.kept,
        "changed, pending again": updated.changed,
        "added": updated.added,
        "removed": updated.removed,
    }
    return tuple(f"{name}: {', '.join(ids)}" for name, ids in groups.items() if ids)


def read_text(prd: Path) -> str:
    """A document's text. Raises InputMissing, BadInput."""
    try:
        return prd.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        raise InputMissing(
            "there is no such requirements document", where=str(prd), fix="check the path"
        ) from None
    except IsADirectoryError:
        raise BadInput("this is a folder, not a document", where=str(prd)) from None
    except UnicodeDecodeError as exc:
        raise BadInput(f"not UTF-8 at byte {exc.start}", where=str(prd)) from exc
