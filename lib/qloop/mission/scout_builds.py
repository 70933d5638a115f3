"""What the build files of other languages tell: Rust, Go, PHP, Ruby, C, Dart, and more. Pure.

Source: the manuals of Cargo, Go, Composer, Bundler, CMake, Meson.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from qloop.mission.scout_tree import (
    Found,
    Json,
    Tree,
    command,
    folder_of,
    line_of,
    listed,
    parse_json,
    parse_toml,
    parsed,
    purpose_of,
    table,
    together,
    words,
)
from qloop.state.codebase import Command, Dependency, EntryPoint, Purpose, Source

_GO_MAIN = re.compile(r"^package\s+main\b.*^func main\(", re.MULTILINE | re.DOTALL)
_GO_NEED = re.compile(r"^(?:require\s+|\t)([\w./~-]+\.[\w./~-]+)\s+(v\S+)(.*)$", re.MULTILINE)
_GEM = re.compile(r"""^\s*gem\s+["']([\w-]+)["'](?:\s*,\s*["']([^"']+)["'])?""", re.MULTILINE)
_EXECUTABLE = re.compile(r"^\s*add_executable\s*\(\s*([\w.-]+)", re.MULTILINE | re.IGNORECASE)
_CTEST = re.compile(r"^\s*(?:enable_testing|add_test|include\s*\(\s*CTest)", re.M | re.I)


class _Rule(NamedTuple):
    """What a tool's file implies where it lies: commands for purposes."""

    files: tuple[str, ...]
    commands: tuple[tuple[Purpose, str], ...]


_RULES = (
    _Rule(
        ("mix.exs",),
        (("test", "mix test"), ("build", "mix compile"), ("setup", "mix deps.get")),
    ),
    _Rule(("Package.swift",), (("test", "swift test"), ("build", "swift build"))),
    _Rule(("build.zig",), (("test", "zig build test"), ("build", "zig build"))),
    _Rule(("build.sbt",), (("test", "sbt test"), ("build", "sbt compile"))),
    _Rule(("deps.edn",), (("test", "clojure -M:test"),)),
    _Rule(("stack.yaml",), (("test", "stack test"), ("build", "stack build"))),
    _Rule(("dune-project",), (("test", "dune test"), ("build", "dune build"))),
    _Rule(
        ("MODULE.bazel", "WORKSPACE"),
        (("test", "bazel test //..."), ("build", "bazel build //...")),
    ),
    _Rule(
        ("meson.build",),
        (("build", "meson setup build && meson compile -C build"), ("test", "meson test -C build")),
    ),
    _Rule((".pre-commit-config.yaml",), (("lint", "pre-commit run --all-files"),)),
    _Rule((".golangci.yml", ".golangci.yaml", ".golangci.toml"), (("lint", "golangci-lint run"),)),
    _Rule((".rubocop.yml",), (("lint", "bundle exec rubocop"),)),
    _Rule((".rspec",), (("test", "bundle exec rspec"),)),
    _Rule(("phpstan.neon", "phpstan.neon.dist"), (("types", "vendor/bin/phpstan analyse"),)),
    _Rule(("phpunit.xml", "phpunit.xml.dist"), (("test", "vendor/bin/phpunit"),)),
)  # fmt: skip


def look_at_builds(tree: Tree) -> Found:
    """Entry points, commands and dependencies of whatever is built by other tools."""
    looks = (
        *(_cargo(tree, path) for path in tree.named("Cargo.toml")),
        *(_go(tree, path) for path in tree.named("go.mod")),
        *(_composer(tree, path) for path in tree.named("composer.json")),
        *(_ruby(tree, path) for path in tree.named("Gemfile")),
        *(_cmake(tree, path) for path in tree.named("CMakeLists.txt")),
    )
    return together(iter(looks)) + _dart(tree) + Found(commands=tuple(_implied(tree)))


def _implied(tree: Tree) -> Iterator[Command]:
    for rule in _RULES:
        path = tree.has(".", *rule.files)
        if path is not None:
            for purpose, text in rule.commands:
                yield command(purpose, text, Source(path=path), "inferred")


def _cargo(tree: Tree, path: str) -> Found:
    value = parsed(tree, path, parse_toml)
    if isinstance(value, Found):
        return value
    folder, text = folder_of(path), tree.texts[path]
    names = [str(one["name"]) for one in listed(value, "bin") if "name" in table({"": one}, "")]
    key = Source(path=path, line=line_of(text, "[[bin]]"), key="bin")
    entries = [EntryPoint(kind="command", name=name, target=name, source=key) for name in names]
    main = tree.has(folder, "src/main.rs")
    package = str(table(value, "package").get("name", folder))
    if main is not None and not names:
        source = Source(path=main)
        entries.append(EntryPoint(kind="command", name=package, target=main, source=source))
    library = tree.has(folder, "src/lib.rs")
    if library is not None:
        source = Source(path=library)
        entries.append(EntryPoint(kind="package", name=package, target=library, source=source))
    is_member = folder != "." and tree.nearest(folder.rpartition("/")[0] or ".", "Cargo.toml")
    commands = () if is_member else tuple(_cargo_commands(path, "workspace" in value))
    return Found(tuple(entries), commands, dependencies=tuple(_crates(value, path, text)))


def _cargo_commands(path: str, is_workspace: bool) -> Iterator[Command]:
    more = " --workspace" if is_workspace else ""
    rows: tuple[tuple[Purpose, str], ...] = (
        ("test", f"cargo test{more}"),
        ("build", f"cargo build{more}"),
        ("lint", f"cargo clippy{more} --all-targets"),
        ("format", "cargo fmt --check"),
    )
    for purpose, text in rows:
        yield command(purpose, text, Source(path=path), "inferred")


def _crates(value: Json, path: str, text: str) -> Iterator[Dependency]:
    for key in ("dependencies", "dev-dependencies", "build-dependencies"):
        for name, wanted in table(value, key).items():
            version = (
                wanted
                if isinstance(wanted, str)
                else str(table({"": wanted}, "").get("version", ""))
            )
            source = Source(path=path, line=line_of(text, f"[{key}", name), key=key)
            yield Dependency(
                name=name,
                version=version,
                ecosystem="Cargo",
                use="run" if key == "dependencies" else "dev",
                source=source,
            )  # fmt: skip


def _go(tree: Tree, path: str) -> Found:
    folder, text = folder_of(path), tree.texts[path]
    start = "" if folder == "." else f"{folder}/"
    entries = [
        EntryPoint(
            kind="command",
            name=folder_of(file).rpartition("/")[2].replace(".", "") or "main",
            target=f"go run ./{folder_of(file)[len(start) :] if start else folder_of(file)}",
            source=Source(path=file, line=line_of(tree.texts[file], "package main")),
        )
        for file in tree.like(r".*\.go")
        if file.startswith(start) and _GO_MAIN.search(tree.texts[file])
    ]
    rows: tuple[tuple[Purpose, str], ...] = (
        ("test", "go test ./..."),
        ("build", "go build ./..."),
        ("lint", "go vet ./..."),
        ("format", "gofmt -l ."),
    )
    commands = tuple(command(one, text, Source(path=path), "inferred") for one, text in rows)
    needs = tuple(
        Dependency(
            name=match.group(1),
            version=match.group(2),
            ecosystem="Go",
            use="run",
            source=Source(path=path, line=text.count("\n", 0, match.start()) + 1),
        )
        for match in _GO_NEED.finditer(text)
        if "indirect" not in match.group(3)
    )
    return Found(tuple(entries), commands, dependencies=needs)


def _composer(tree: Tree, path: str) -> Found:
    value = parsed(tree, path, parse_json)
    if isinstance(value, Found):
        return value
    text = tree.texts[path]
    commands = [command("setup", "composer install", Source(path=path), "inferred")]
    for name in table(value, "scripts"):
        line = line_of(text, '"scripts"', f'"{name}"')
        source = Source(path=path, line=line, key=f"scripts.{name}")
        commands.append(command(purpose_of(name), f"composer {name}", source))
    needs = tuple(
        Dependency(
            name=name,
            version=version,
            ecosystem="Composer",
            use="run" if key == "require" else "dev",
            source=Source(path=path, line=line_of(text, f'"{key}"', f'"{name}"'), key=key),
        )
        for key in ("require", "require-dev")
        for name, version in words(value, key).items()
    )
    programs = (str(one) for one in listed(value, "bin"))
    source = Source(path=path, line=line_of(text, '"bin"'), key="bin")
    entries = (
        EntryPoint(kind="command", name=one.rpartition("/")[2], target=one, source=source)
        for one in programs
    )
    return Found(tuple(entries), tuple(commands), dependencies=needs)


def _ruby(tree: Tree, path: str) -> Found:
    text = tree.texts[path]
    needs = [
        Dependency(
            name=match.group(1),
            version=match.group(2) or "",
            ecosystem="RubyGems",
            use="run",
            source=Source(path=path, line=text.count("\n", 0, match.start(1)) + 1),
        )
        for match in _GEM.finditer(text)
    ]
    commands = [command("setup", "bundle install", Source(path=path), "inferred")]
    rspec = next((one for one in needs if one.name in ("rspec", "rspec-rails")), None)
    if rspec is not None and tree.has(folder_of(path), ".rspec") is None:
        commands.append(command("test", "bundle exec rspec", rspec.source, "inferred"))
    rails = tree.has(folder_of(path), "bin/rails")
    if rails is not None:
        folder = folder_of(path)
        commands.append(command("run", "bin/rails server", Source(path=rails), "inferred", folder))
        if rspec is None:
            test = command("test", "bin/rails test", Source(path=rails), "inferred", folder)
            commands.append(test)
    rake = tree.has(folder_of(path), "Rakefile")
    if rake is not None and rspec is None and rails is None:
        commands.append(command("test", "bundle exec rake test", Source(path=rake), "inferred"))
    return Found(commands=tuple(commands), dependencies=tuple(needs))


def _cmake(tree: Tree, path: str) -> Found:
    text = tree.texts[path]
    entries = tuple(
        EntryPoint(
            kind="program",
            name=match.group(1),
            target=f"add_executable({match.group(1)})",
            source=Source(path=path, line=text.count("\n", 0, match.start(1)) + 1),
        )
        for match in _EXECUTABLE.finditer(text)
    )
    if folder_of(path) != ".":
        return Found(entries)
    build = "cmake -B build && cmake --build build"
    commands = [command("build", build, Source(path=path), "inferred")]
    tests = _CTEST.search(text)
    if tests is not None:
        line = (
            text.count("\n", 0, tests.start()) + 1 + text[tests.start() : tests.end()].count("\n")
        )
        source = Source(path=path, line=line)
        commands.append(command("test", "ctest --test-dir build", source, "inferred"))
    return Found(entries, tuple(commands))


def _dart(tree: Tree) -> Found:
    path = tree.has(".", "pubspec.yaml")
    if path is None:
        return Found()
    start = "flutter" if "flutter:" in tree.texts.get(path, "") else "dart"
    source = Source(path=path)
    rows: tuple[tuple[Purpose, str], ...] = (
        ("test", f"{start} test"),
        ("lint", f"{start} analyze"),
        ("setup", f"{start} pub get"),
    )
    return Found(commands=tuple(command(one, text, source, "inferred") for one, text in rows))
