"""What `runners` does once its words are parsed. Errors: BadInput, RunnerUnavailable."""

from dataclasses import asdict
from pathlib import Path

from qloop.agents.manifest import AUTO, SHELL, Manifest
from qloop.agents.toml import render_table
from qloop.cli.checkup import render_finding
from qloop.repo.checkout import find_repository
from qloop.run.config import CONFIG_NAME, Config, load_config
from qloop.run.prepare import find_installed, find_manifest, runner_names
from qloop.run.runner_survey import list_runners
from qloop.system.errors import BadInput, InputMissing, RunnerUnavailable
from qloop.ui import console

SOMETHING_BAD = 1


def show_runners(*, as_json: bool) -> int:
    """All runners, those of qloop.toml first."""
    config, root = _settings()
    rows = list_runners(config, root)
    if as_json:
        console.print_json([asdict(row) for row in rows])
        return 0
    columns = ("name", "agent", "installed", "from", "permissions", "install")
    console.table(
        columns,
        (
            (
                row.name,
                row.title,
                (row.version or "yes") if row.installed else "no",
                row.source,
                row.permissions,
                "" if row.installed else row.install,
            )
            for row in rows
        ),
    )
    return 0


def show_runner(name: str, *, as_json: bool) -> int:
    """One runner, as a table of qloop.toml."""
    config, _ = _settings()
    manifest = _named(name, config)
    if as_json:
        console.print_json(manifest.model_dump(mode="json", exclude_none=True))
    else:
        console.result(console.printable(render_table(manifest).rstrip("\n")))
    return 0


def try_runner(name: str | None, model: str | None, timeout_s: float, *, as_json: bool) -> int:
    """A small task for one runner, and what works of it."""
    from qloop.run.runner_check import check_runner

    config, root = _settings()
    manifest = _chosen(name, config, root)
    checked = check_runner(manifest, config, root, model, timeout_s, console.say)
    if as_json:
        findings = [asdict(one) for one in checked.findings]
        folder = None if checked.folder is None else str(checked.folder)
        told = {"runner": manifest.name, "ok": checked.works, "findings": findings}
        console.print_json({**told, "folder": folder})
    else:
        for one in checked.findings:
            console.result(console.printable(render_finding(one)))
        if checked.folder is not None:
            console.say(f"its log: {checked.folder}/.qloop/logs; remove it when you are done")
    return 0 if checked.works else SOMETHING_BAD


def _settings() -> tuple[Config, Path]:
    """The settings here, and the checkout's root; outside of a repository the defaults."""
    try:
        root = find_repository(Path.cwd()).root
    except InputMissing:
        return Config(), Path.cwd()
    return load_config(root), root


def _chosen(name: str | None, config: Config, root: Path) -> Manifest:
    wanted = name or config.runner or AUTO
    if wanted != AUTO:
        _named(wanted, config)
        return find_manifest(wanted, "this check", config, root)
    found = find_installed(config, root)
    if found is None:
        raise RunnerUnavailable(
            "no agent command line is installed", fix="see `qloop runners list` for how to"
        )
    return found


def _named(name: str, config: Config) -> Manifest:
    manifest = config.manifest(name)
    if manifest is not None:
        return manifest
    if name == SHELL:
        raise BadInput(
            "the runner 'shell' is part of qloop, and starts no agent",
            fix="see it at work with `qloop demo`",
        )
    raise BadInput(
        f"unknown runner {name!r}",
        where=CONFIG_NAME,
        fix=f"name one of {', '.join(runner_names(config))}, or add a table [runners.{name}]",
    )
