"""The settings, the plan, its document, and the runners that its stories would use."""

from collections.abc import Iterator
from pathlib import Path

from qloop.agents.shipped import SHIPPED, load_shipped
from qloop.plan.document import load_document
from qloop.plan.model import Plan
from qloop.plan.validate import check_plan
from qloop.run.choosing import FALLBACK
from qloop.run.config import CONFIG_NAME, Config, load_config, own_config
from qloop.run.finding import Finding, enumerate_names, from_error
from qloop.run.prepare import (
    OVER,
    Wanted,
    check_prd,
    find_manifest,
    find_prd,
    is_installed,
    pick_runner,
)
from qloop.run.resolvers import RESOLVER, pick_resolver
from qloop.run.reviewers import pick_reviewers
from qloop.system.counting import counted
from qloop.system.errors import InputMissing, QloopError


def load_settings(root: Path) -> tuple[Config | None, list[Finding]]:
    """The settings of a checkout, where they can be used, and what there is to say of them."""
    try:
        config = load_config(root)
    except QloopError as exc:
        return None, [from_error("settings", exc)]
    there = [str(path) for path in (root / CONFIG_NAME, own_config()) if path.exists()]
    text = ", then ".join(there) or f"no {CONFIG_NAME}, so the defaults hold"
    return config, [Finding("settings", "ok", text)]


def load_plan(state_file: Path, root: Path) -> tuple[Plan | None, list[Finding]]:
    """The plan, where there is one without faults, and what there is to say of it."""
    try:
        plan = check_plan(load_document(state_file), str(state_file))
    except InputMissing as exc:
        return None, [Finding("plan", "ok", f"none yet ({state_file})", exc.fix)]
    except QloopError as exc:
        return None, [from_error("plan", exc)]
    told = Finding("plan", "ok", f"{counted(len(plan.stories), 'story')}, no fault")
    return plan, [told, *_check_document(plan, root, state_file)]


def check_runners(plan: Plan | None, config: Config, root: Path) -> Iterator[Finding]:
    """Which stories would use which runner; without a plan, which runners are installed."""
    if plan is None:
        yield from _check_tables(config, root)
        return
    using: dict[str, list[str]] = {}
    failing: dict[str, tuple[Finding, list[str]]] = {}
    for story in plan.stories:
        if story.status in OVER:
            continue
        try:
            name = pick_runner(story, Wanted(), config, root).name
            using.setdefault(name, []).append(story.id)
        except QloopError as exc:
            asked = story.runner or config.runner or ""
            failing.setdefault(asked, (from_error("runners", exc), []))[1].append(story.id)
    for name, ids in using.items():
        yield Finding("runners", "ok", f"{name} for {enumerate_names(ids)}")
    yield from _check_reviewers(plan, config, root)
    yield from _check_resolver(plan, config, root)
    yield from _check_fallback(config, root)
    for found, ids in failing.values():
        others = f"; the same for {enumerate_names(ids[1:])}" if ids[1:] else ""
        yield Finding("runners", "bad", found.text + others, found.fix)


def _check_reviewers(plan: Plan, config: Config, root: Path) -> Iterator[Finding]:
    waiting = next((story for story in plan.stories if story.status not in OVER), None)
    if waiting is None:
        return
    try:
        reviewers = pick_reviewers(waiting, Wanted(), config, root)
    except QloopError as exc:
        yield from_error("reviewers", exc)
        return
    if reviewers:
        told = ", ".join(f"{one.runner.name} as {one.role}" for one in reviewers)
        yield Finding("reviewers", "ok", told)


def _check_resolver(plan: Plan, config: Config, root: Path) -> Iterator[Finding]:
    waiting = next((story for story in plan.stories if story.status not in OVER), None)
    if waiting is None:
        return
    try:
        resolver = pick_resolver(waiting, Wanted(), config, root)
    except QloopError as exc:
        yield from_error(RESOLVER, exc)
        return
    if resolver is not None:
        yield Finding(RESOLVER, "ok", resolver.runner.name)


def _check_fallback(config: Config, root: Path) -> Iterator[Finding]:
    for name in config.fallback:
        try:
            find_manifest(name, FALLBACK, config, root)
        except QloopError as exc:
            yield from_error(FALLBACK, exc)


def _check_document(plan: Plan, root: Path, state_file: Path) -> Iterator[Finding]:
    if plan.prd_path is None:
        return
    prd = find_prd(plan, root, None, state_file)
    if prd.warning:
        yield Finding("document", "warn", prd.warning)
        return
    try:
        check_prd(plan, prd)
    except QloopError as exc:
        yield from_error("document", exc)
        return
    yield Finding("document", "ok", f"{plan.prd_path} is what the plan was made from")


def _check_tables(config: Config, root: Path) -> Iterator[Finding]:
    for name in config.runners:
        manifest = config.manifest(name)
        if manifest is None:
            continue
        program = manifest.argv[0]
        if not is_installed(manifest, root):
            text = f"{name} needs {program!r}, which is not installed"
            yield Finding("runners", "warn", text, f"install {program}")
        else:
            yield Finding("runners", "ok", f"{name} is installed")


def check_agents_installed(config: Config, root: Path) -> Finding:
    """Which of the agent command lines that qloop knows by itself are installed."""
    shipped = (load_shipped(name) for name in SHIPPED if name not in config.runners)
    there = [one.name for one in shipped if one is not None and is_installed(one, root)]
    if there:
        text = f"{enumerate_names(there)} installed; `qloop runners check NAME` tries one"
        return Finding("agents", "ok", text)
    text = "no agent command line that qloop knows by itself is installed"
    return Finding("agents", "ok", text, "qloop runners list tells how to install one")
