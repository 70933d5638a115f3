"""Circles in a directed graph, found without recursion. Pure, linear but for the circles told.

A graph maps each node to the nodes it points to; all of them are keys.
"""

from collections.abc import Mapping, Sequence

Graph = Mapping[str, Sequence[str]]


def find_knots(graph: Graph) -> list[list[str]]:
    """The sets of two or more nodes that all lead to each other, in the graph's order."""
    order = {node: place for place, node in enumerate(graph)}
    sources = _reversed(graph)
    placed: set[str] = set()
    knots = []
    for root in reversed(_finish_order(graph)):
        if root not in placed:
            members = _reach(root, sources, placed)
            if len(members) > 1:
                knots.append(sorted(members, key=order.__getitem__))
    return sorted(knots, key=lambda members: order[members[0]])


def shortest_circle(graph: Graph, knot: Sequence[str]) -> list[str]:
    """A shortest way from a knot's first node back to it; that node stands at both ends."""
    start, inside = knot[0], set(knot)
    came_from: dict[str, str] = {}
    layer = [start]
    while start not in came_from:
        reached = []
        for node in layer:
            for target in graph[node]:
                if target in inside and target not in came_from and target != node:
                    came_from[target] = node
                    reached.append(target)
        layer = reached
    way = [start, came_from[start]]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]


def _finish_order(graph: Graph) -> list[str]:
    """All nodes, each after those that it leads to and that had not been seen before it."""
    seen: set[str] = set()
    finished = []
    for root in graph:
        if root in seen:
            continue
        seen.add(root)
        trail = [(root, iter(graph[root]))]
        while trail:
            node, targets = trail[-1]
            target = next((target for target in targets if target not in seen), None)
            if target is None:
                finished.append(node)
                trail.pop()
            else:
                seen.add(target)
                trail.append((target, iter(graph[target])))
    return finished


def _reach(root: str, graph: Graph, placed: set[str]) -> list[str]:
    """The nodes to be reached from *root* over nodes not yet placed, which they become."""
    placed.add(root)
    members = [root]
    for node in members:
        for target in graph[node]:
            if target not in placed:
                placed.add(target)
                members.append(target)
    return members


def _reversed(graph: Graph) -> dict[str, list[str]]:
    sources: dict[str, list[str]] = {node: [] for node in graph}
    for node, targets in graph.items():
        for target in targets:
            sources[target].append(node)
    return sources
