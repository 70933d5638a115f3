"""What agent command lines really printed, errors in between, against a scripted model server."""

from pathlib import Path

from qloop.agents.readers.table import open_reader
from qloop.agents.reading import Line, Reading

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "agent_output"

FORM_OF = {
    "claude": "claude-stream-json",
    "codex": "codex-jsonl",
    "gemini-json": "gemini-json",
    "gemini-stream": "gemini-stream-json",
    "mini": "mini-trajectory",
    "opencode": "opencode-json",
    "qwen": "qwen-stream-json",
}
NAMES = sorted(path.stem for path in FOLDER.iterdir())


def form_of(name: str) -> str:
    """The form of a recorded output."""
    return next(form for begin, form in FORM_OF.items() if name.startswith(begin))


def recorded(name: str) -> bytes:
    """A recorded output."""
    return (FOLDER / f"{name}.out").read_bytes()


def read(form: str, *pieces: bytes) -> tuple[Reading, list[Line]]:
    """What an output in these pieces comes to, and its readable lines."""
    reader = open_reader(form)
    lines = [line for piece in pieces for line in reader.feed(piece)]
    lines += reader.feed(b"\n")
    return reader.finish(), lines
