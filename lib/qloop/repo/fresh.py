"""A repository made for trying things, with an identity of its own."""

from pathlib import Path


def make_repository(folder: Path, files: dict[str, str], message: str) -> str:
    """A new repository at *folder* holding *files* in one commit; the commit's name."""
    import git

    folder.mkdir(parents=True, exist_ok=True)
    with git.Repo.init(folder, initial_branch="main") as made:
        with made.config_writer() as config:
            config.set_value("user", "name", "qloop demo")
            config.set_value("user", "email", "demo@localhost")
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        made.index.add(list(files))
        return made.index.commit(message).hexsha
