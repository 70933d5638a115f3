"""Definitions in other languages, as Universal Ctags tells them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from qloop.run.check_names import check_names
from qloop.run.check_source import Definition
from qloop.run.check_tags import define, parse_tags
from works import work


def tag(**fields: Any) -> dict[str, Any]:
    """A tag as ctags writes it: a type `Price` of 1.go, with other *fields*."""
    return {
        **{"_type": "tag", "name": "Price", "path": "1.go", "line": 3, "kind": "struct"},
        **fields,
    }


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, "type"),
        ({"kind": "func", "scope": "main", "scopeKind": "package"}, "function"),
        ({"kind": "method"}, "function"),
        ({"kind": "class", "scope": "App\\Shop", "scopeKind": "namespace"}, "type"),
        ({"kind": "interface", "scope": "shop::prices", "scopeKind": "module"}, "type"),
        ({"kind": "func", "scope": "main.Price", "scopeKind": "struct"}, None),
        ({"kind": "method", "scope": "Cart", "scopeKind": "class"}, None),
        ({"kind": "function", "file": True}, None),
        ({"kind": "function", "scope": "shop::tests", "scopeKind": "module"}, None),
        ({"kind": "struct", "name": "__anon1"}, None),
        ({"kind": "constant"}, None),
        ({"_type": "ptag"}, None),
    ],
)
def test_what_a_tag_defines(fields: dict[str, Any], kind: Any) -> None:
    """Types and functions that other files see and that are no part of another type count."""
    found = parse_tags(json.dumps(tag(**fields)) + "\nno JSON\n[1]\n")

    assert found == ([("1.go", (Definition("Price", kind, 3),))] if kind else [])


SOURCES = {
    "a.go": "package shop\n\ntype Price struct{}\n\nfunc (p Price) Sum() int { return 1 }\n",
    "a.ts": "export interface Price { cents: number }\nexport class Cart { Price() {} }\n",
    "a.rs": "pub struct Price { a: i32 }\nmod tests { fn helper() {} }\n",
    "A.java": "class Price { void sum() {} }\n",
}


@pytest.mark.parametrize("path", SOURCES)
def test_the_installed_ctags_is_understood(path: str) -> None:
    """Where Universal Ctags is installed, a type of two stories is found by it."""
    if shutil.which("ctags") is None:
        pytest.skip("ctags is not installed")
    first, second = work("A", {path: SOURCES[path]}), work("B", {f"other/{path}": SOURCES[path]})
    files = [(file.path, file.text) for one in (first, second) for file in one.files]

    found = check_names([first, second], define(files))

    assert "Price" in {one.subject for one in found}
    assert {"Sum", "sum", "helper"}.isdisjoint(one.subject for one in found)


def test_another_ctags_or_none_defines_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python is read without ctags; another language then defines nothing, and nothing fails."""
    monkeypatch.setenv("PATH", str(tmp_path))
    files = [("a.py", "def f(): ...\n"), ("a.go", SOURCES["a.go"])]
    without = define(files)
    other = tmp_path / "ctags"
    other.write_text("#!/bin/sh\necho 'illegal option' >&2\nexit 1\n", encoding="utf-8")
    other.chmod(0o755)
    python = {files[0]: (Definition("f", "function", 1),)}

    assert without == python
    assert define(files) == python
