"""The site that a refinement looks at and tries: made when the first one needs it.

Errors: those of `standing_site`; GateCancelled.
"""

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from qloop.mission.exerciser import choose_flows, exercise, not_tried
from qloop.mission.inspector import inspect_files, inspect_routes
from qloop.mission.page_rules import found
from qloop.mission.pictures import Pictures
from qloop.plan.model import Plan
from qloop.repo.checkout import Repository
from qloop.run.config import Config
from qloop.run.proving import Standing
from qloop.run.reading_desk import ReadingPlace
from qloop.run.serving import NotServed, room_of_visitor, served
from qloop.run.site import Take, standing_site
from qloop.state.journal import Journal
from qloop.state.refinement import Flows, Severity, Visual
from qloop.system.cancel import Cancel
from qloop.system.chromium import find_chromium
from qloop.system.web import Server

SHOTS, E2E = "screenshots", "e2e"
HTML = ("*.html", "*.htm")
NOT_UP = "the project's server did not come up"


@dataclass(frozen=True, slots=True)
class Scene:
    """What is refined, and for whom."""

    repository: Repository
    config: Config
    plan: Plan
    commit: str
    """What is looked at."""
    folder: Path
    """Where all that is made lies."""
    journal: Journal
    take: Take
    tell: Callable[[str], None]
    cancel: Cancel
    mission: str
    """What agents are told of it."""
    agents: ReadingPlace
    """Where they read."""


@dataclass(slots=True)
class Show:
    """The site, for as long as *undo* is open."""

    scene: Scene
    undo: ExitStack
    standing: Standing | None = None
    server: Server | None = None
    fault: str | None = None
    """Why the project's server is not there, where it should be."""

    def inspect(self) -> Visual:
        """What is to be seen."""
        scene = self.scene
        standing = self._stand()
        scene.tell("visual-inspector looks at the pages")
        folder = scene.folder / SHOTS
        shutil.rmtree(folder, ignore_errors=True)
        wanted = scene.config.refinement.screenshots
        pictures = Pictures(find_chromium() if wanted else None, folder, wanted=wanted)
        if self.fault is not None:
            finding = found(Severity.CRITICAL, "serve", NOT_UP, "serve", evidence=self.fault)
            return Visual(source="none", findings=(finding,))
        if self.server is not None:
            routes = scene.config.refinement.routes
            return inspect_routes(self.server, routes, pictures, scene.cancel)
        names = standing.workspace.git.fields("ls-files", "-z", "--", *HTML)
        return inspect_files(standing.workspace.tree, names, pictures, scene.cancel)

    def exercise(self) -> Flows:
        """What became of the flows."""
        scene = self.scene
        choice = choose_flows(scene.config.refinement, scene.plan)
        if not choice.flows:
            return Flows(notes=choice.notes)
        for path in (scene.folder / E2E).glob("[0-9][0-9]-*"):
            shutil.rmtree(path, ignore_errors=True)
        standing = self._stand()
        if self.fault is not None:
            return not_tried(choice, NOT_UP)
        room = replace(standing.room, logs=scene.folder / E2E)
        if self.server is None:
            return exercise(choice, room, standing.clean, scene.tell)
        visitor = room_of_visitor(room, self.server)
        return _without_checks(exercise(choice, visitor, lambda: None, scene.tell))

    def _stand(self) -> Standing:
        """The checkout, with the project's server where one is to be."""
        if self.standing is not None:
            return self.standing
        scene = self.scene
        standing = self.undo.enter_context(
            standing_site(
                scene.repository,
                scene.config,
                scene.plan,
                scene.commit,
                scene.journal,
                scene.folder / E2E,
                scene.take,
                scene.cancel,
            )
        )
        self._serve(standing)
        self.standing = standing
        return standing

    def _serve(self, standing: Standing) -> None:
        settings = self.scene.config.refinement
        if settings.serve is None:
            return
        if standing.port_base is None:
            self.fault = "no port is free"
            return
        self.scene.tell("starts the project's server")
        up = served(standing.room, settings.serve, standing.port_base, settings.ready_within)
        try:
            self.server = self.undo.enter_context(up)
        except NotServed as exc:
            self.fault = str(exc)


def _without_checks(flows: Flows) -> Flows:
    """The same where the flows need a server, which no story's verification has."""
    bare = tuple(one.model_copy(update={"check": ()}) for one in flows.findings)
    return flows.model_copy(update={"findings": bare})
