"""The pages that tell what a repository is."""

from qloop.ui.recon_pages import MOST_ROWS, render_architecture, render_recon_report
from scout_trees import scout

FILES = {
    "Makefile": "test:\n\ttrue\n",
    "a|b/x.py": "import core.y\n",
    "core/__init__.py": "",
    "core/y.py": "y = 1\n",
    "CONTRIBUTING.md": "# How <b>we</b> | work\n",
    "package.json": "{",
}


def test_the_report_names_facts_with_their_files() -> None:
    """Each row of the report has the place that it was read from; odd names break no table."""
    page = render_recon_report(scout(FILES))

    assert "| test | `make test` | `.` | declared | `Makefile:1 (test)` |" in page
    assert r"| contributors | `CONTRIBUTING.md` | How \<b\>we\</b\> \| work | 23 B |" in page
    assert "| `package.json` |" in page.partition("## Not read")[2]
    assert "Nothing that a person would look at was found." in page


def test_the_architecture_draws_what_imports_what() -> None:
    """Folders are boxes, imports are arrows with their number, tables say the same in words."""
    page = render_architecture(scout(FILES))
    drawing = page.partition("```mermaid\n")[2].partition("```")[0]

    assert "| `a\\|b` | `core` | 1 | `a\\|b/x.py:1` |" in page
    assert '["a#124;b<br/>Python"]' in drawing
    assert "-->|1|" in drawing


def test_pages_of_nothing() -> None:
    """An empty repository has pages too, without a drawing."""
    facts = scout({})

    assert "greenfield: 0 files, no source yet" in render_recon_report(facts)
    assert "mermaid" not in render_architecture(facts)


def test_long_tables_say_what_they_leave_out() -> None:
    """A page stays readable, and says how to see the rest."""
    needs = "".join(f"need{number}\n" for number in range(MOST_ROWS + 5))
    page = render_recon_report(scout({"requirements.txt": needs}))

    assert "… and 5 more; `qloop recon --json` has all." in page
