"""The gate on shells: what each role's may run, and what no agent may."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.gate_site import CHECK, Site, make_site
from qloop.agents.gate.shell_text import parse_script


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """The site."""
    return make_site(tmp_path)


WORK = [
    ("npm test && echo done > out.txt", "shell-work"),
    ("rm -rf build *.pyc", "shell-work"),
    ("rm -rf *", "shell-work"),
    ("rm -rf link", "shell-work"),
    ("find . -name '*.pyc' -delete", "shell-work"),
    ("cp a.txt $TMPDIR/b && mkdir -p deep/er && touch deep/er/x", "shell-work"),
    ("git add -A && git commit -m 'a > /b; rm -rf /; git push -f'", "shell-work"),
    ("git reset --hard", "shell-work"),
    ("git checkout -- . && git clean -fdx", "shell-work"),
    ("git -C link log --oneline", "shell-work"),
    ("cat > src/a.sh <<'END'\nrm -rf /\ngit push --force\nEND\nchmod -R u+x src", "shell-work"),
    ("echo '> /etc/x' \"rm -rf /\" # rm -rf /", "shell-work"),
    ("make 2>&1 | tee make.log >/dev/null", "shell-work"),
    ("for f in *.py; do if [ -f $f ]; then echo $f >&2; fi; done", "shell-work"),
    ("kill -TERM 4711", "shell-work"),
    ("qloop guard head-advance HEAD~1; qloop budget", "shell-work"),
    ("rm -rf /", "!destructive"),
    ("rm -fr ~", "!destructive"),
    ('rm -r "$HOME"/x', "!destructive"),
    ("rm -rf $NOBODY_KNOWS/", "!destructive"),
    ("rm -rf .", "!destructive"),
    ("rm -rf /*", "!destructive"),
    ("rm -rf link/", "!destructive"),
    ("cd src && rm -rf ../..", "!destructive"),
    ("X=/; rm -rf $X", "!destructive"),
    ("bash -c 'rm -rf /'", "!destructive"),
    ("sudo -u root env A=1 timeout 5 rm -rf /usr", "!destructive"),
    ("bash <<END\nrm -rf /\nEND", "!destructive"),
    ("eval rm -rf /", "!destructive"),
    ('echo "$(rm -rf /)"', "!destructive"),
    ("echo `rm -rf /`", "!destructive"),
    ("true\nrm -rf /", "!destructive"),
    ("ls | xargs rm -rf", "!destructive"),
    ("find / -name x -exec rm {} \\;", "!destructive"),
    ("git push --force-with-lease origin x", "!destructive"),
    ("git push origin +x", "!destructive"),
    ("git reset --hard HEAD~2", "!destructive"),
    ("pkill -f server", "!destructive"),
    ("kill -9 -1", "!destructive"),
    ("dd if=/dev/zero of=/dev/sda", "!destructive"),
    ("mkfs.ext4 /dev/sda", "!destructive"),
    ("git push", "!push"),
    ("echo a > ../b", "!write-outside"),
    ("echo a >> link/b", "!write-outside"),
    ("tee $SPOT/b < a.txt", "!write-outside"),
    ("cp a.txt link/", "!write-outside"),
    ("mv link/a b", "!write-outside"),
    ("git -C link commit -m x", "!write-outside"),
    ("cd link && git checkout -b x", "!write-outside"),
    ("git worktree add ../other", "!write-outside"),
    ("git config --file ../config a.b c", "!write-outside"),
    ("git clone https://example.org/x.git vendor/x", "shell-work"),
    ("git config --global user.name x", "!write-outside"),
    ("curl -s -o /usr/local/bin/x https://example.org", "!write-outside"),
    ("sed -i s/a/b/ quantum.json", "!protected"),
    ("cat <<END > .qloop/state.json\n{}\nEND", "!protected"),
    ("echo x > .git/config", "!protected"),
    ("rm .claude/settings.json", "!gate-settings"),
    ("qloop answer cp-1-1 proceed", "!person-only"),
    ("cd src; PATH=. /opt/bin/qloop story reset A-1", "!person-only"),
    ("python3 -P -m qloop budget set 100", "!person-only"),
]


@pytest.mark.parametrize(("command", "rule"), WORK, ids=[command for command, _ in WORK])
def test_an_implementers_shell(site: Site, command: str, rule: str) -> None:
    """It is free within its worktree; quotes, links, `cd` and starters hide nothing."""
    assert site.run("implementer", command) == rule


LOOKS = [
    ("git log --oneline -3", "shell-read"),
    ("git --no-pager diff HEAD~1 -- src", "shell-read"),
    ("git show HEAD:src/../a.txt", "shell-read"),
    ("git branch --show-current", "shell-read"),
    ("ls -la src", "shell-read"),
    ("cat a.txt", "shell-read"),
    ('grep -rn "/api/v1" src', "shell-read"),
    ("sed -n 3,9p a.txt", "shell-read"),
    ("find . -name '*.py'", "shell-read"),
    ("cat a.txt > b", "!shell-redirect"),
    ("cat <<END\nx\nEND", "!shell-redirect"),
    ("ls | head", "!shell-chained"),
    ("ls; rm a.txt", "!shell-chained"),
    ("ls\nrm a.txt", "!shell-chained"),
    ("echo $(rm a.txt)", "!shell-unclear"),
    ("ls $NOBODY_KNOWS", "!shell-unclear"),
    ("GIT_PAGER=evil git log", "!shell-unclear"),
    ("cat 'a.txt", "!shell-unclear"),
    ("ls {a,/etc}", "!shell-unclear"),
    ("rm a.txt", "!shell-not-listed"),
    ("npm test", "!shell-not-listed"),
    ("./ls", "!shell-not-listed"),
    ("bash -c ls", "!shell-not-listed"),
    ("find . -delete", "!shell-not-listed"),
    ("sort -uo b a.txt", "!shell-not-listed"),
    ("uniq a.txt b.txt", "!shell-not-listed"),
    ("sed -i s/a/b/ a.txt", "!shell-not-listed"),
    ("sed -n 'w b' a.txt", "!shell-not-listed"),
    ("git commit -m x", "!shell-not-listed"),
    ("git branch x", "!shell-not-listed"),
    ("git diff --outp=b", "!shell-not-listed"),
    ("git -c core.pager=evil log", "!shell-not-listed"),
    ("git grep -Oevil x", "!shell-not-listed"),
    ("cat /etc/passwd", "!read-outside"),
    ("cat ../person/../../../../../../etc/passwd", "!read-outside"),
    ("grep -f/etc/passwd a.txt", "!read-outside"),
    ("git -C /etc log", "!read-outside"),
    ("ls ~", "!read-outside"),
    ("qloop story reset A-1", "!person-only"),
]


@pytest.mark.parametrize(("command", "rule"), LOOKS, ids=[command for command, _ in LOOKS])
@pytest.mark.parametrize("role", ["recon", "planner"])
def test_a_shell_that_only_looks(site: Site, role: str, command: str, rule: str) -> None:
    """One plain command of a list; what cannot be understood is denied."""
    assert site.run(role, command) == rule


@pytest.mark.parametrize("role", ["spec-reviewer", "refinement"])
def test_declared_checks(site: Site, role: str) -> None:
    """They may be run as they are declared, or with more words; nothing joined to them."""
    assert site.run(role, CHECK) == "declared-check"
    assert site.run(role, f"{CHECK} -- --watch=false") == "shell-read"
    assert site.run(role, f"{CHECK}; rm a.txt") == "!shell-chained"
    assert site.run(role, "npm run evil") == "!shell-not-listed"
    assert site.run("recon", CHECK) == "!shell-not-listed"


def test_a_coordinators_toolkit(site: Site) -> None:
    """It may be joined; a program of that name from anywhere is not it."""
    own = f"{site.places.scratch[0]}/bin/qloop"

    assert site.run("coordinator", "qloop attempt A --start && qloop attempt B --start 2>&1")
    assert site.run("coordinator", f"{own} attempt A --wait 60s") == "shell-read"
    assert site.run("coordinator", "qloop wave complete wave-1; git log -1") == "shell-read"
    assert site.run("coordinator", "/evil/qloop attempt A") == "!shell-not-listed"
    assert site.run("coordinator", "qloop attempt A > a.txt") == "!shell-redirect"
    assert site.run("coordinator", "qloop run") == "!shell-not-listed"
    assert site.run("coordinator", "qloop story block A") == "!person-only"


@given(st.text("ab /.~$'\"`\\<>|&;(){}#\n=*-", max_size=40))
def test_any_text_is_taken_apart(text: str) -> None:
    """Whatever a shell is told, the gate comes to an end and to commands with words."""
    script = parse_script(text)

    assert all(one.words or one.redirects for one in script.commands)


def test_heredocs_quotes_and_descriptors() -> None:
    """What stands in them is no command."""
    script = parse_script("cat <<-'A B' 2>&1 >x; ls\n\tone\n\tA B\n'a;b' \"c|d\" e\\;f\n")

    assert [[word.text for word in one.words] for one in script.commands] == [
        ["cat"],
        ["ls"],
        ["a;b", "c|d", "e;f"],
    ]
    assert [sign for sign, _ in script.commands[0].redirects] == ["<<-", ">&", ">"]
    assert script.commands[0].body == "\tone\n"
    assert script.unclear == ""
