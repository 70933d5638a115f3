"""Who works on a story's next attempt: runners and models, with stand-ins for runners that pause.

Errors: RunnerUnavailable, BadInput.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from qloop.agents.manifest import SHELL, Manifest
from qloop.plan.model import Plan, Story
from qloop.run import prepare
from qloop.run.briefing import Briefing, encode_prompt
from qloop.run.config import Config
from qloop.run.delegates import check_delegates, find_delegates
from qloop.run.leaders import COORDINATOR, pick_leader
from qloop.run.orders import Delegate, Place, Resolver, Reviewer
from qloop.run.prepare import Wanted
from qloop.run.resolvers import pick_resolver
from qloop.run.reviewers import pick_reviewers
from qloop.state.spending import IMPLEMENTER

FALLBACK = "fallback"
"""The setting that names the stand-ins, in their order."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The agents of one attempt."""

    runner: Manifest
    model: str | None
    reviewers: tuple[Reviewer, ...]
    resolver: Resolver | None = None
    delegates: tuple[Delegate, ...] = ()

    @property
    def runners(self) -> tuple[str, ...]:
        """The names of their runners, the implementer's first."""
        found = [self.runner, *(one.runner for one in self.reviewers)]
        found += [self.resolver.runner] if self.resolver is not None else []
        return tuple(one.name for one in found)


@dataclass(frozen=True, slots=True)
class Chooser:
    """Chooses agents by what the plan, the command line and the settings say."""

    wanted: Wanted
    config: Config
    root: Path
    paused: Collection[str] = ()
    """Runners that get no work now."""

    def choose(self, story: Story) -> Chosen:
        """The agents of a story's next attempt; those whose runner pauses have no stand-in."""
        runner = prepare.pick_runner(story, self.wanted, self.config, self.root)
        model = prepare.find_route(story, self.wanted, self.config).model
        return Chosen(
            *self._present(runner, model),
            tuple(
                self._presently(one)
                for one in pick_reviewers(story, self.wanted, self.config, self.root)
            ),
            self._resolver(story),
            self._delegates(story, runner),
        )

    def _delegates(self, story: Story, implementer: Manifest) -> tuple[Delegate, ...]:
        """Those whose runner may work now; nobody stands in for them, or waits for them."""
        found = find_delegates(story, implementer, self.wanted, self.config, self.root)
        return tuple(one for one in found if one.runner.name not in self.paused)

    def _resolver(self, story: Story) -> Resolver | None:
        found = pick_resolver(story, self.wanted, self.config, self.root)
        if found is None:
            return None
        runner, model = self._present(found.runner, found.model)
        return found.model_copy(update={"runner": runner, "model": model})

    def _present(self, runner: Manifest, model: str | None) -> tuple[Manifest, str | None]:
        """The runner, or the first stand-in that may work; that has a model of its own."""
        if runner.name == SHELL or runner.name not in self.paused:
            return runner, model
        others = self._stand_ins(runner.name)
        return (others[0], None) if others else (runner, model)

    def _presently(self, reviewer: Reviewer) -> Reviewer:
        runner, model = self._present(reviewer.runner, reviewer.model)
        others = (one.for_reading() for one in self._stand_ins(runner.name))
        changes = {"runner": runner.for_reading(), "model": model, "stand_ins": tuple(others)}
        return reviewer.model_copy(update=changes)

    def _stand_ins(self, name: str) -> tuple[Manifest, ...]:
        """Who may take over from a runner, in order."""
        names = [one for one in self.config.fallback if one != name and one not in self.paused]
        return tuple(prepare.find_manifest(one, FALLBACK, self.config, self.root) for one in names)


def paid_agents(chosen: Chosen) -> list[tuple[str, str, str | None]]:
    """Role, runner and model of each agent of an attempt that money is reserved for."""
    return [
        (IMPLEMENTER, chosen.runner.name, chosen.model),
        *((one.role, one.runner.name, one.model) for one in chosen.reviewers),
    ]


def check_agents(plan: Plan, wanted: Wanted, config: Config, place: Place) -> list[str]:
    """Every story that may still run has agents that could start and take its prompt.

    Returns what a person should know of them.
    """
    root = Path(place.root)
    briefing = Briefing.of_plan(plan, place.prd, root)
    chooser = Chooser(wanted, config, root)
    runners: dict[str, Manifest] = {}
    if wanted.coordinator_agent:
        pick_leader(wanted, config, root, COORDINATOR, wanted.timeout_s or config.timeout)
    for name in config.fallback:
        prepare.find_manifest(name, FALLBACK, config, root)
    check_delegates(config, root)
    for story in plan.stories:
        if story.status in prepare.OVER:
            continue
        manifest = chooser.choose(story).runner
        if manifest.prompt == "argument":
            encode_prompt(briefing.render(story), manifest, story.id)
        runners[manifest.name] = manifest
    return unbound_words(runners.values())


def unbound_words(runners: Iterable[Manifest]) -> list[str]:
    """What a person should know of runners that are held to nothing."""
    full = [one for one in runners if one.permissions == "full"]
    unbound = {one.name: " ".join(one.rights.args) for one in full}
    names = [f"{name} ({words})" if words else name for name, words in unbound.items()]
    if not names:
        return []
    return [f'permissions = "full": {", ".join(names)} may do whatever you may']
