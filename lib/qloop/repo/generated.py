"""Generated files in a merge: they stand as on our side, and commands are to make them anew.

Paths are relative to the repository's root, with `/`. Errors: MergeConflict, GitFailed.
"""

from dataclasses import replace

from qloop.repo.git import Git
from qloop.repo.landing_filter import Rules, changes_between, take_over
from qloop.repo.merging import MergeConflict, try_merge


def merge_generated(
    git: Git, ours: str, theirs: str, base: str, line: str, rules: Rules
) -> tuple[str, tuple[str, ...]]:
    """The tree of two commits merged, and which generated paths in it are to be made anew.

    Those are the ones that both sides changed since *base*, which they have in common, be it in
    the same places or not. *git* is a `merge_repository`; *line* is the commit whose attributes
    count. Raises MergeConflict for what is not generated.
    """
    merge = try_merge(git, ours, theirs, line)
    stale = _find_stale(git, (base, ours, theirs), merge.files, rules)
    if stale:
        merge = replace(
            merge,
            tree=take_over(git, ours, merge.tree, stale.__contains__),
            versions=tuple(one for one in merge.versions if one.path not in stale),
        )
    if merge.versions:
        raise MergeConflict(merge, stale)
    return merge.tree, stale


def _find_stale(
    git: Git, sides: tuple[str, str, str], conflicting: tuple[str, ...], rules: Rules
) -> tuple[str, ...]:
    if not rules.generated:
        return ()
    base, *others = sides
    here, there = ({one.path: one for one in changes_between(git, base, side)} for side in others)
    both = {path for path in here.keys() & there if here[path].is_there or there[path].is_there}
    return tuple(sorted(filter(rules.is_generated, both.union(conflicting))))
