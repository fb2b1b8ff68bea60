"""The graph of partners: features on a circle, as large as their weight, joined where they matter together.

As SVG without any library, and with matplotlib. Blue and vermilion are from the palette of Okabe and Ito.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import Any

NODE, EDGE, INK = "#0072B2", "#D55E00", "#1a1a1a"
LONGEST_NAME = 24
#: pixels: a side of the picture, the circle, the largest node, the widest edge, and the text
SIZE, CIRCLE, LARGEST, WIDEST, LETTERS = 520, 150, 15, 9, 12
SMALLEST, NARROWEST = 3.0, 1.0


@dataclass(frozen=True)
class Node:
    """A feature: where it lies on the unit circle, and how large it is from 0 to 1."""

    name: str
    x: float
    y: float
    size: float


@dataclass(frozen=True)
class Edge:
    """Two features by their place among the nodes, and how wide the line is from 0 to 1."""

    first: int
    second: int
    width: float


@dataclass(frozen=True)
class Graph:
    """What is drawn."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @staticmethod
    def of(weights: Mapping[str, float], groups: Sequence[tuple[tuple[str, ...], float]]) -> Graph:
        """The best feature on top, and the next ones far from each other; the area of a node is its weight, if above 0.

        The two or three features of a group are joined to each other, as wide as the widest group that joins them.
        """
        names, largest = list(weights), max([0.0, *weights.values()])
        nodes = tuple(
            Node(name, *_on_circle(i, len(names)), math.sqrt(max(weights[name], 0.0) / largest) if largest else 0.0)
            for i, name in enumerate(names)
        )
        most = max((value for _, value in groups), default=0.0)
        widths: dict[tuple[int, int], float] = {}
        for features, value in groups:
            width = max(value, 0.0) / most if most > 0 else 0.0
            for a, b in combinations(sorted(names.index(feature) for feature in features), 2):
                widths[a, b] = max(width, widths.get((a, b), 0.0))
        return Graph(nodes, tuple(Edge(a, b, width) for (a, b), width in sorted(widths.items())))


def _on_circle(i: int, n: int) -> tuple[float, float]:
    """Node i of n. The best are most often joined, so each next one goes 3/8 of the circle on: their edges can be seen."""
    stride = next(step for step in range(max(1, round(0.375 * n)), n + 1) if math.gcd(step, n) == 1)
    angle = 2 * math.pi * (i * stride % n) / n
    return math.sin(angle), math.cos(angle)


def to_svg(graph: Graph) -> str:
    """The picture as text."""
    middle = SIZE / 2

    def place(node: Node, radius: float = CIRCLE) -> tuple[float, float]:
        return middle + radius * node.x, middle - radius * node.y

    lines = []
    for edge in graph.edges:
        (x1, y1), (x2, y2) = place(graph.nodes[edge.first]), place(graph.nodes[edge.second])
        width = NARROWEST + edge.width * (WIDEST - NARROWEST)
        lines.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{EDGE}" stroke-opacity="0.75" '
            f'stroke-width="{width:.2f}" stroke-linecap="round"/>'
        )
    for node in graph.nodes:
        x, y = place(node)
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_radius(node):.2f}" fill="{NODE}"/>')
        x, y = place(node, CIRCLE + LARGEST + 8)
        lines.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{_side(node, "start", "middle", "end")}" '
            f'dominant-baseline="middle" fill="{INK}">{escape(shortened(node.name))}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" width="{SIZE}" height="{SIZE}" '
        f'font-family="sans-serif" font-size="{LETTERS}" role="img" aria-label="features that matter together">\n'
        + "\n".join(lines)
        + "\n</svg>"
    )


def draw(graph: Graph, ax: Any = None) -> Any:
    """The picture on matplotlib's axes, new ones if none are given."""
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(6, 6))[1]
    for edge in graph.edges:
        a, b = graph.nodes[edge.first], graph.nodes[edge.second]
        width = NARROWEST + edge.width * (WIDEST - NARROWEST)
        ax.plot([a.x, b.x], [a.y, b.y], color=EDGE, alpha=0.75, linewidth=width, solid_capstyle="round", zorder=1)
    for node in graph.nodes:
        ax.scatter([node.x], [node.y], s=(2 * _radius(node)) ** 2, color=NODE, zorder=2)
        away = _radius(node) + 4
        ax.annotate(
            shortened(node.name),
            (node.x, node.y),
            (away * node.x, away * node.y),
            textcoords="offset points",
            ha=_side(node, "left", "center", "right"),
            va="center" if abs(node.x) >= 0.15 else "bottom" if node.y > 0 else "top",
            color=INK,
            parse_math=False,
        )
    ax.set_xlim(-1.7, 1.7)
    ax.set_ylim(-1.5, 1.5)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _radius(node: Node) -> float:
    return SMALLEST + node.size * (LARGEST - SMALLEST)


def _side(node: Node, right: str, middle: str, left: str) -> str:
    """On which side of its node a name is written, so that names stay out of the circle."""
    return middle if abs(node.x) < 0.15 else right if node.x > 0 else left


def shortened(name: str) -> str:
    """A name that fits beside the circle: its beginning and its end."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[: half - 1]}…{name[-half:]}"
