#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tacit demo --json | tools/draw_demo.py >docs/images/demo.svg

Draws the picture of the README from a real run: test accuracy by the number of records an agent
has. Standard library only; the same input gives the same bytes. Colours follow the reader's
light or dark scheme, and the picture brings its own background in case nobody says."""
import json
import sys

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 62, 24, 112, 66
LOW, HIGH = 0.5, 1.0  # half of all answers are right by guessing
WORDS = {
    "alone": "alone: own records",
    "global": "global: all records pooled",
    "cd": "cd: peers exchange models, bare",
    "one-shot": "one-shot: one noisy vector to each neighbour",
    "chorus": "chorus: noisy sums over all agents",
}
STYLE = """
    text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
           fill: #1f2328; }
    .back { fill: #ffffff; } .soft { fill: #59636e; } .line { stroke: #d1d9e0; }
    .alone { fill: #8c959f; } .global { fill: #d4872c; } .cd { fill: #1a6fd4; }
    .one-shot { fill: #8250df; } .chorus { fill: #1a7f4b; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; } .back { fill: #0d1117; } .soft { fill: #9198a1; }
      .line { stroke: #30363d; } .alone { fill: #818b98; } .global { fill: #e3a04f; }
      .cd { fill: #58a6ff; } .one-shot { fill: #b18aff; } .chorus { fill: #3fb96f; }
    }
"""


def text(x, y, words, size=13, anchor="start", kind="", weight=""):
    extra = (f' class="{kind}"' if kind else "") + (f' font-weight="{weight}"' if weight else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{extra}>{words}</text>'


def height(score):
    score = min(max(score, LOW), HIGH)
    return (score - LOW) / (HIGH - LOW) * (HEIGHT - TOP - BOTTOM)


def draw(demo):
    rows = [row for row in demo["rows"] if row["label"] in WORDS]
    groups = rows[0]["by_records"]
    floor = HEIGHT - BOTTOM
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-labelledby="title">',
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        "<!-- made by tools/draw_demo.py from a run of the demo -->",
        '<title id="title">Test accuracy by the number of records an agent has: '
        + "; ".join(f'{row["label"]} {row["test_accuracy"]:.2f} over all agents' for row in rows)
        + "</title>",
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" class="back"/>',
        text(24, 32, "Agents with few records gain most from their neighbours", 17, weight="600"),
        text(24, 52, f'tacit demo, seed {demo["seed"]}: 100 agents, 100 features; accuracy on each '
             "agent's own test records", 12.5, kind="soft"),
    ]
    places = ((24, 66), (210, 66), (450, 66), (24, 86), (430, 86))
    for (x, y), row in zip(places, rows):  # what the colours mean
        words = f'{WORDS[row["label"]]} ({row["test_accuracy"]:.2f}'
        if row["privacy"]["epsilon"]:
            words += f', \u03b5 = {row["privacy"]["epsilon"]:.3g}'
        svg.append(f'<rect x="{x}" y="{y}" width="12" height="12" rx="2" class="{row["label"]}"/>')
        svg.append(text(x + 18, y + 10.5, words + ")", 12.5))
    for k in range(6):
        score = LOW + k * (HIGH - LOW) / 5
        y = floor - height(score)
        svg.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" class="line"/>')
        svg.append(text(LEFT - 8, y + 4.5, f"{score:.1f}", 12, "end", "soft"))
    span = (WIDTH - LEFT - RIGHT) / len(groups)
    bar = span * 0.16
    for g, group in enumerate(groups):
        middle = LEFT + span * (g + 0.5)
        for k, row in enumerate(rows):
            score = row["by_records"][g]["test_accuracy"]
            if score is None:
                continue
            left = middle + (k - len(rows) / 2) * (bar + 3)
            top = floor - height(score)
            svg.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{bar:.1f}" '
                       f'height="{floor - top:.1f}" rx="2" class="{row["label"]}"/>')
            svg.append(text(left + bar / 2, top - 5, f"{score:.2f}", 10.5, "middle"))
        svg.append(text(middle, floor + 19, f'{group["least"]} to {group["most"]} records', 13, "middle"))
        svg.append(text(middle, floor + 36, f'{group["agents"]} agents', 12, "middle", "soft"))
    delta = rows[0]["privacy"]["delta"]
    svg.append(text(24, HEIGHT - 12, "0.5 is guessing; \u03b5 is for one record (replaced) at "
                    f"\u03b4 = {delta:g}, against everyone (one-shot) or those who see sums (chorus)",
                    11.5, kind="soft"))
    svg.append("</svg>")
    return "\n".join(svg) + "\n"


if __name__ == "__main__":
    sys.stdout.write(draw(json.load(sys.stdin)))
