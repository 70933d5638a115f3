"""A worktree and a person's checkout, in which the gate is asked."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.agents.gate.act import read_call
from qloop.agents.gate.decision import Decision, decide
from qloop.agents.gate.places import Places, make_places

CHECK = "npm test"


@dataclass(frozen=True)
class Site:
    """A worktree, a person's checkout with two intents, and who asks."""

    tree: Path
    root: Path
    places: Places

    def ask(self, role: str, tool: str, cwd: Path | None = None, **args: Any) -> Decision:
        """What the gate decides, from the worktree unless said otherwise."""
        env = {"HOME": "/root", "TMPDIR": self.places.scratch[0], "SPOT": str(self.root)}
        act = read_call(role, tool, args, str(cwd or self.tree), env)
        return decide(role, act, self.places, [CHECK])

    def run(self, role: str, command: str) -> str:
        """The rule by which a command is allowed, or denied (with a `!` before it)."""
        made = self.ask(role, "Bash", command=command)
        return made.rule if made.allow else f"!{made.rule}"


def make_site(tmp_path: Path) -> Site:
    """The site; its worktree has a link to the person's checkout."""
    tree, root, scratch = tmp_path / "a tree", tmp_path / "person", tmp_path / "scratch"
    intent = root / ".qloop" / "intents" / "1--csv"
    for folder in (tree / "src", intent / "recon", root / "src", scratch):
        folder.mkdir(parents=True)
    (tree / "link").symlink_to(root)
    (tree / "a.txt").write_text("a\n", encoding="utf-8")
    (root / ".qloop" / "out").symlink_to(root / "src")
    return Site(tree, root, make_places(str(tree), str(root), str(intent), [str(scratch)]))
