"""Which languages a tree is written in, by the names of its files, and first lines. Pure.

Source: the extensions that github-linguist gives to languages.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from qloop.repo.tracked import TrackedFile
from qloop.state.codebase import Language, Source

_SOURCE = """
Python: py pyi pyx
JavaScript: js mjs cjs jsx
TypeScript: ts mts cts tsx
Rust: rs
Go: go
Java: java
Kotlin: kt kts
Scala: scala sc
Groovy: groovy gradle
C: c h
C++: cc cpp cxx hh hpp hxx ipp
C#: cs
F#: fs fsx
Visual Basic: vb
Objective-C: m mm
Swift: swift
PHP: php
Ruby: rb rake gemspec
Perl: pl pm
Lua: lua
R: r
Julia: jl
Haskell: hs lhs
OCaml: ml mli
Elixir: ex exs
Erlang: erl hrl
Clojure: clj cljs cljc
Elm: elm
Dart: dart
Zig: zig
Nim: nim
Crystal: cr
D: d
Fortran: f f90 f95
Assembly: s asm
Solidity: sol
Shell: sh bash zsh fish ksh
PowerShell: ps1 psm1
Batch: bat cmd
SQL: sql
HTML: html htm xhtml
CSS: css scss sass less styl
Vue: vue
Svelte: svelte
Astro: astro
Template: jinja jinja2 j2 erb ejs hbs handlebars mustache twig liquid pug haml slim cshtml razor
QML: qml
GraphQL: graphql gql
Protocol Buffers: proto
Terraform: tf
Nix: nix
CMake: cmake
CUDA: cu cuh
GLSL: glsl vert frag
Jupyter Notebook: ipynb
"""
_OTHER = """
Markdown: md markdown mdx
reStructuredText: rst
AsciiDoc: adoc asciidoc
Text: txt
TeX: tex bib
JSON: json jsonc json5 jsonl
YAML: yaml yml
TOML: toml
XML: xml xsd xsl plist
INI: ini cfg conf properties
CSV: csv tsv
SVG: svg
"""
_NAMES = {
    "Makefile": "Make", "GNUmakefile": "Make", "makefile": "Make", "justfile": "Just",
    "Justfile": "Just", "Dockerfile": "Docker", "Containerfile": "Docker", "Jenkinsfile": "Groovy",
    "Rakefile": "Ruby", "Gemfile": "Ruby", "CMakeLists.txt": "CMake", "meson.build": "Meson",
}  # fmt: skip
_NOT_SOURCE = frozenset(("Make", "Just", "Docker", "Meson", "CMake"))
_SHEBANG = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+)*)?(?:\S*/)?([a-z]+)")
_INTERPRETERS = {
    "python": "Python", "pypy": "Python", "sh": "Shell", "bash": "Shell", "zsh": "Shell",
    "dash": "Shell", "ksh": "Shell", "fish": "Shell", "node": "JavaScript", "deno": "TypeScript",
    "bun": "TypeScript", "ruby": "Ruby", "perl": "Perl", "php": "PHP", "lua": "Lua",
    "pwsh": "PowerShell", "rscript": "R", "julia": "Julia",
}  # fmt: skip


def _by_extension(rows: str) -> dict[str, str]:
    pairs = (line.split(":") for line in rows.strip().splitlines())
    return {ending: name for name, endings in pairs for ending in endings.split()}


_ENDINGS = {**_by_extension(_SOURCE), **_by_extension(_OTHER)}
_SOURCES = frozenset(_by_extension(_SOURCE).values()) - _NOT_SOURCE


def language_of(path: str, first_line: str = "") -> str | None:
    """The language of a file by its name, else by the interpreter that its first line names."""
    name = path.rpartition("/")[2]
    if name in _NAMES:
        return _NAMES[name]
    ending = name.rpartition(".")[2].lower() if "." in name.lstrip(".") else ""
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if name.startswith("Dockerfile."):
        return "Docker"
    found = _SHEBANG.match(first_line)
    return _INTERPRETERS.get(found.group(1)) if found else None


def is_source(language: str | None) -> bool:
    """Whether programs or pages are written in it."""
    return language in _SOURCES


def languages_of(
    files: Sequence[TrackedFile], known: Mapping[str, str | None]
) -> tuple[Language, ...]:
    """The languages of files, source first, then the larger; *known* has each path's language."""
    groups: dict[str, list[TrackedFile]] = defaultdict(list)
    for file in files:
        language = known[file.path]
        if language is not None:
            groups[language].append(file)
    sizes = {name: sum(file.size for file in group) for name, group in groups.items()}
    whole = sum(size for name, size in sizes.items() if is_source(name))
    found = [
        Language(
            name=name,
            is_source=is_source(name),
            files=len(group),
            bytes=sizes[name],
            share=round(sizes[name] / whole, 4) if whole and is_source(name) else 0.0,
            source=Source(path=max(group, key=lambda file: file.size).path),
        )
        for name, group in groups.items()
    ]
    return tuple(sorted(found, key=lambda one: (not one.is_source, -one.bytes, one.name)))
