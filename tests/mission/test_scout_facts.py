"""What the scout says of a tree as a whole, whatever is in it."""

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from qloop.mission.scout import LARGEST_BYTES, fingerprint_of
from qloop.mission.scout_tree import MOST_MANIFESTS
from qloop.plan.schema import render_schema
from qloop.state.codebase import facts_schema, parse_facts, render_facts
from qloop.system.assets import read_asset
from qloop.system.errors import BadInput
from scout_trees import scout, tracked

BASE = {
    "README.md": "Tea\n===\n",
    "pyproject.toml": '[project]\nname = "tea"\n',
    "tea/a.py": "x = 1\n",
}


def test_languages() -> None:
    """By endings, known names and interpreters; vendored and generated files do not count."""
    facts = scout(
        {
            "a.py": "x" * 60,
            "b.ts": "y" * 30,
            "+tool": "#!/usr/bin/env bash\n",
            "README.md": "z" * 500,
            "node_modules/c.js": "w" * 900,
            "package-lock.json": "{}" * 100,
            "@link.py": "a.py",
        }
    )
    found = {one.name: (one.files, one.is_source, one.share) for one in facts.languages}

    assert found == {
        "Python": (1, True, 0.5455),
        "TypeScript": (1, True, 0.2727),
        "Shell": (1, True, 0.1818),
        "Markdown": (1, False, 0.0),
    }
    assert (facts.size.source_files, facts.size.source_bytes, facts.size.set_apart) == (3, 110, 2)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, True),
        ({"README.md": "# Soon", "LICENSE": "", ".gitignore": ""}, True),
        ({"vendor/lib/a.c": "int x;"}, True),
        ({"main.go": ""}, False),
        ({"index.html": "<p>"}, False),
        ({"+run": "#!/bin/sh\n"}, False),
    ],
)
def test_greenfield(files: dict[str, str], expected: bool) -> None:
    """Nothing is written yet where no tracked file of our own is source."""
    assert scout(files).is_greenfield is expected


@pytest.mark.parametrize(
    ("files", "signs"),
    [
        ({"src/app.tsx": "", "src/a.css": ""}, {"JSX", "CSS"}),
        ({"web/page.vue": ""}, {"Vue"}),
        ({"shop/templates/a.html": ""}, {"HTML"}),
        ({"views/a.blade.php": ""}, {"templates"}),
        ({"package.json": '{"dependencies": {"react": "1"}}'}, {"react"}),
        ({"package.json": '{"devDependencies": {"react": "1"}}'}, set()),
        ({"docs/index.html": "", "tests/fixtures/a.html": "", "main.py": ""}, set()),
        ({"api.py": "", "pyproject.toml": '[project]\ndependencies = ["flask"]'}, set()),
    ],
)
def test_ui(files: dict[str, str], signs: set[str]) -> None:
    """Pages, styles, components and frameworks of the program itself show that it has a UI."""
    facts = scout(files)

    assert {one.kind for one in facts.ui} == signs
    assert facts.has_ui is bool(signs)


def test_governing_documents() -> None:
    """Documents for agents, contributors, readers, with their titles and lines."""
    facts = scout(
        {
            "CLAUDE.md": "\n# Rules\n",
            "sub/AGENTS.md": "Do well.\n",
            ".cursorrules": "x",
            "CONTRIBUTING.md": "Set up\n------\n",
            "README.md": "# Tea",
            "docs/adr/0001-why.md": "# Why\n",
            "docs/guide.md": "# No rule\n",
        }
    )
    found = {one.source.text: (one.kind, one.title) for one in facts.documents}

    assert found == {
        "CLAUDE.md:2": ("agents", "Rules"),
        "sub/AGENTS.md": ("agents", ""),
        ".cursorrules": ("agents", ""),
        "CONTRIBUTING.md:1": ("contributors", "Set up"),
        "README.md:1": ("readers", "Tea"),
        "docs/adr/0001-why.md:1": ("decisions", "Why"),
    }


def test_conventions() -> None:
    """Layout, tools, line length, types and the tests' places, from the files that say so."""
    facts = scout(
        {
            ".editorconfig": "root = true\n[*.py]\nindent_size = 4\n",
            "pyproject.toml": "[tool.ruff]\nline-length = 99\n[tool.mypy]\nstrict = true\n",
            ".prettierrc": '{"semi": false}',
            "eslint.config.js": "",
            "tests/test_a.py": "",
            "src/b.test.ts": "",
        }
    )
    found = [(one.topic, one.text, one.source.text) for one in facts.conventions]

    assert ("layout", "indent_size = 4", ".editorconfig:2 (*.py)") in found
    assert ("line length", "99", "pyproject.toml:1 (tool.ruff.line-length)") in found
    assert ("types", "mypy, strict", "pyproject.toml:3 (tool.mypy)") in found
    assert ("layout", "semi = False", ".prettierrc") in found
    assert ("linter", "ESLint", "eslint.config.js") in found
    assert ("tests", "1 file named test_NAME.py, 1 of them in tests/", "tests/test_a.py") in found
    assert ("tests", "1 file named NAME.test, beside the code", "src/b.test.ts") in found


@pytest.mark.parametrize(
    ("subjects", "text"),
    [
        (
            ("feat: a", "fix(x): b", "feat!: c", "docs: d", "Merge it"),
            "Conventional Commits, 4 of 5",
        ),
        (("TEA-1 a", "[TEA-2] b", "TEA-3: c", "TEA-4 d", "e"), "subjects begin with a ticket"),
        (("Add a", "Add bb", "Fix c", "Drop d", "Say e"), "plain subjects, the longest of 6"),
    ],
)
def test_commit_subjects(subjects: tuple[str, ...], text: str) -> None:
    """The style of the last subjects, where there are enough of them."""
    (found,) = scout({}, subjects).conventions

    assert found.text.startswith(text)
    assert scout({}, subjects[:2]).conventions == ()


def test_fingerprint() -> None:
    """It changes with a file's name, and with the content of what facts are read from alone."""
    base = fingerprint_of(tracked(BASE))

    assert fingerprint_of(tracked({**BASE, "tea/a.py": "x = 2\n"})) == base
    assert fingerprint_of(reversed(tracked(BASE))) == base
    for change in ({"tea/b.py": ""}, {"README.md": "Coffee"}, {"pyproject.toml": ""}):
        assert fingerprint_of(tracked({**BASE, **change})) != base
    facts = scout(BASE)
    assert facts.is_known_by(base)
    assert not facts.is_known_by(None)


def test_arrows_between_areas() -> None:
    """Who imports from whom, by Python, JavaScript and Go, with the first place."""
    facts = scout(
        {
            "core/__init__.py": "",
            "core/a.py": "import json\n",
            "shop/b.py": "from core.a import x\nimport core\nfrom . import c\n",
            "shop/c.py": "def f():\n    if f:\n        from core import a\n",
            "web/ui/a.ts": "import x from '../../lib/y'\nconst z = require('./b')\n",
            "lib/y.ts": "",
            "go.mod": "module ex.com/m\n",
            "cmd/m.go": 'package main\nimport (\n\t"fmt"\n\t"ex.com/m/pkg/leaf"\n)\n',
            "pkg/leaf/l.go": "package leaf\n",
            "broken/a.py": "def (:\n",
        }
    )
    found = {(one.tail, one.head): (one.count, one.source.text) for one in facts.arrows}

    assert found == {
        ("shop", "core"): (3, "shop/b.py:1"),
        ("web", "lib"): (1, "web/ui/a.ts:1"),
        ("cmd", "pkg"): (1, "cmd/m.go:4"),
    }
    assert (facts.imports_read, facts.imports_left) == (9, 0)


def test_a_folder_with_most_of_it_is_told_by_its_parts() -> None:
    """The parts of one large package are areas, and what lies beside them too."""
    facts = scout({f"src/tea/{part}/x.py": "y" * 50 for part in "abc"} | {"tests/t.py": "z" * 20})

    assert [one.path for one in facts.areas] == ["src/tea/a", "src/tea/b", "src/tea/c", "tests"]


MALFORMED = {
    "pyproject.toml": "[project\n",
    "package.json": "{",
    "sub/package.json": "[]",
    "Cargo.toml": "=",
    "pom.xml": "<project>",
    "a/pom.xml": '<!DOCTYPE x [<!ENTITY a "b">]><project>&a;</project>',
    "x.csproj": "<",
    "composer.json": "",
    "setup.cfg": "no section\n",
    "noxfile.py": "def (",
    ".github/workflows/a.yml": "a: [",
    ".editorconfig": "[*]\n= x\n",
    "deno.json": "null",
}


@pytest.mark.parametrize("path", MALFORMED)
def test_malformed_files_are_named(path: str) -> None:
    """A file that cannot be read is named with the reason; all others are read."""
    facts = scout({path: MALFORMED[path], "Makefile": "test:\n\ttrue\n"})

    assert [one.source.path for one in facts.unread] == [path]
    assert facts.unread[0].reason
    assert facts.find_command("test") is not None


def test_files_that_are_not_read() -> None:
    """What is too large, no text, too deep or one of too many is named, and ends nothing."""
    many = {f"p{number:02}/Cargo.toml": "" for number in range(MOST_MANIFESTS + 3)}
    files: dict[str, str | bytes] = {"package.json": " " * (LARGEST_BYTES + 1), **many}
    files |= {"Makefile": b"test:\0\n", "a/b/c/d/e/go.mod": "module x"}
    facts = scout(files)
    beyond = ": too many or too deep, or no text"

    assert {one.source.path: one.reason for one in facts.unread} == {
        "package.json": "more than 500,000 bytes",
        "Makefile": f"1 file of this name{beyond}",
        "a/b/c/d/e/go.mod": f"1 file of this name{beyond}",
        "p60/Cargo.toml": f"3 files of this name{beyond}",
    }
    assert {one.source.path for one in facts.commands} == {f"p{n:02}/Cargo.toml" for n in range(60)}


def test_aliases_do_not_explode() -> None:
    """YAML whose aliases multiply is read as what is written, once."""
    rows = ["a0: &a0 [run]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    facts = scout({".github/workflows/a.yml": "\n".join(rows)})

    assert facts.commands == ()


NAMES = sorted(
    {path.rpartition("/")[2] for path in MALFORMED}
    | {"Makefile", "tox.ini", "tsconfig.json", ".prettierrc", "Gemfile", "CMakeLists.txt", "go.mod"}
    | {"requirements.txt", "Dockerfile", "a.py", "b.ts", "c.go", "README.md", "Procfile"}
)
PIECES = (
    *('{"scripts": ', '{"test": ', "[project]\n", "[tool.poetry.group]\nx = 1\n", "scripts = 3\n"),
    *("dependencies = {a = 1}\n", '"bin": [1]', "[[bin]]\n", "<a/>", "}", "]", ": ", "- run: x\n"),
    *("import a\n", "from . import b\n", 'from "../../../x"', "\x00", "\ud83d", "[tox]\n", "&a *a"),
)
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.text(max_size=60),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(string.ascii_letters, max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["scripts", "bin", "name", "tasks", "a"]), inner)
        ),
        max_leaves=8,
    ).map(json.dumps),
)


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(NAMES), TEXTS, max_size=6))
def test_any_files_at_all(files: dict[str, str]) -> None:
    """Whatever files hold, there are facts, and they go through JSON unchanged."""
    facts = scout({path: text.encode("utf-8", "replace") for path, text in files.items()})

    assert parse_facts(render_facts(facts), "facts.json") == facts


def test_facts_go_through_their_file() -> None:
    """facts.json keeps to its published schema; one that does not is refused with its place."""
    text = render_facts(scout(BASE))

    Draft202012Validator(json.loads(read_asset("schemas", "facts.schema.json"))).validate(
        json.loads(text)
    )
    with pytest.raises(BadInput, match=r"facts\.json"):
        parse_facts(text.replace('"fingerprint"', '"print"'), "facts.json")


def test_the_published_schema_is_what_the_model_says() -> None:
    """schemas/facts.schema.json is generated, and up to date."""
    assert read_asset("schemas", "facts.schema.json") == render_schema(facts_schema())
