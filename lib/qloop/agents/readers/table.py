"""Which reader reads which form of output."""

from collections.abc import Callable

from qloop.agents.forms import TEXT
from qloop.agents.readers.text import TextReader
from qloop.agents.reading import Reader

READERS: dict[str, Callable[[], Reader]] = {
    TEXT: TextReader,
}


def open_reader(form: str) -> Reader:
    """A reader for one call's output of that form (see `forms.FORMS`)."""
    return READERS[form]()
