"""A real git repository in a folder, driven by the git command."""

from pathlib import Path

from qloop.system import process


class Repo:
    """A real repository in a folder, driven by the git command."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main", "--template=")
        self.git("config", "user.name", "Pat Person")
        self.git("config", "user.email", "pat@example.invalid")

    def git(self, *args: str, cwd: Path | None = None, check: bool = True) -> str:
        """Run git here; return its standard output without the final line end."""
        done = process.run(["git", *args], cwd=cwd or self.path)
        assert not check or done.code == 0, f"git {args}: {done.complaint}"
        return done.text

    def write(self, files: dict[str, str]) -> None:
        """Write files by their paths."""
        for name, text in files.items():
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")

    def commit(self, message: str, files: dict[str, str] | None = None) -> str:
        """Write files, commit all there is, and return the commit's name."""
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")
