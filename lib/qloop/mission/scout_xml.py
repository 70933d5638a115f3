"""What Maven, Gradle and .NET projects tell. Pure.

Source: the references of the POM, of Gradle's Java plugin, and of the .NET project SDK.
"""

from xml.etree import ElementTree

from qloop.mission.scout_tree import Found, Tree, command, folder_of, line_of, parsed, together
from qloop.state.codebase import Dependency, EntryPoint, Purpose, Source


def look_at_xml(tree: Tree) -> Found:
    """Entry points, commands and dependencies of what is built by Maven, Gradle or dotnet."""
    looks = (
        *(_maven(tree, path) for path in tree.named("pom.xml")),
        *(_gradle(tree, path) for path in tree.named("build.gradle", "build.gradle.kts")),
        *(_dotnet(tree, path) for path in tree.like(r".*\.(?:csproj|fsproj)")),
    )
    return together(iter(looks))


def _maven(tree: Tree, path: str) -> Found:
    value = parsed(tree, path, _parse_xml)
    if isinstance(value, Found):
        return value
    text = tree.texts[path]
    needs = tuple(
        Dependency(
            name=f"{_inner(one, 'groupId')}:{_inner(one, 'artifactId')}",
            version=_inner(one, "version"),
            ecosystem="Maven",
            use="dev" if _inner(one, "scope") == "test" else "run",
            source=Source(path=path, line=line_of(text, f">{_inner(one, 'artifactId')}<")),
        )
        for one in value.iter()
        if one.tag.rpartition("}")[2] == "dependency"
    )
    if folder_of(path) != "." and tree.has(".", "pom.xml"):
        return Found(dependencies=needs)
    start = "./mvnw" if tree.has(folder_of(path), "mvnw") else "mvn"
    source = Source(path=path)
    rows: tuple[tuple[Purpose, str], ...] = (("test", "test"), ("build", "package"))
    commands = (command(purpose, f"{start} {word}", source, "inferred") for purpose, word in rows)
    return Found(commands=tuple(commands), dependencies=needs)


def _parse_xml(text: str) -> ElementTree.Element:
    """An XML document without definitions of its own. Raises ValueError."""
    if "<!" in text.replace("<!--", ""):
        raise ValueError("it defines entities, which are not looked at")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as exc:
        raise ValueError(str(exc)) from exc


def _inner(element: ElementTree.Element, name: str) -> str:
    found = (one.text or "" for one in element if one.tag.rpartition("}")[2] == name)
    return next(found, "").strip()


def _gradle(tree: Tree, path: str) -> Found:
    if folder_of(path) != "." and tree.has(".", "settings.gradle", "settings.gradle.kts"):
        return Found()
    start = "./gradlew" if tree.has(folder_of(path), "gradlew") else "gradle"
    source = Source(path=path)
    rows: tuple[tuple[Purpose, str], ...] = (("test", "test"), ("build", "build"))
    commands = (command(purpose, f"{start} {word}", source, "inferred") for purpose, word in rows)
    return Found(commands=tuple(commands))


def _dotnet(tree: Tree, path: str) -> Found:
    value = parsed(tree, path, _parse_xml)
    if isinstance(value, Found):
        return value
    text, source = tree.texts[path], Source(path=path)
    name = path.rpartition("/")[2].rpartition(".")[0]
    target = f"dotnet run --project {path}"
    is_program = "<OutputType>Exe" in text or "Microsoft.NET.Sdk.Web" in text
    entry = EntryPoint(kind="command", name=name, target=target, source=source)
    commands = [command("build", "dotnet build", source, "inferred", ".")]
    if "Microsoft.NET.Test.Sdk" in text:
        commands.append(command("test", "dotnet test", source, "inferred", "."))
    needs = tuple(
        Dependency(
            name=one.get("Include", ""),
            version=one.get("Version", ""),
            ecosystem="NuGet",
            use="run",
            source=Source(path=path, line=line_of(text, f'"{one.get("Include", "")}"')),
        )
        for one in value.iter("PackageReference")
    )
    return Found((entry,) if is_program else (), tuple(commands), dependencies=needs)
