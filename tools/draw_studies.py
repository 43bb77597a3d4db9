#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of docs/studies/personalized-private.md and chorus.md from the tables under bench/results/.

Usage: tools/draw_studies.py [RESULTS [IMAGES]]      (bench/results, docs/images)
"""
import csv
import math
import os
import sys

RESULTS = sys.argv[1] if len(sys.argv) > 1 else "bench/results"
IMAGES = sys.argv[2] if len(sys.argv) > 2 else "docs/images"

STYLE = """
    text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
           font-size: 12px; fill: #1f2328; }
    .head { font-size: 17px; font-weight: 600; } .panel { font-size: 13.5px; font-weight: 600; }
    .back { fill: #ffffff; } .soft { fill: #59636e; } .grid { stroke: #d1d9e0; }
    .c0 { color: #8c959f; } .c1 { color: #1a6fd4; } .c2 { color: #8250df; } .c3 { color: #1a7f4b; }
    .c4 { color: #d4872c; } .c5 { color: #c2408a; } .c6 { color: #2b9eb3; }
    .line { fill: none; stroke: currentColor; stroke-width: 2.2; stroke-linejoin: round; }
    .band { fill: currentColor; fill-opacity: .15; } .dot { fill: currentColor; }
    .bar { stroke: currentColor; stroke-width: 1.5; } .dash { stroke-dasharray: 6 4; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; } .back { fill: #0d1117; } .soft { fill: #9198a1; }
      .grid { stroke: #30363d; } .c1 { color: #58a6ff; } .c2 { color: #b18aff; }
      .c3 { color: #3fb96f; } .c4 { color: #e3a04f; } .c5 { color: #f778ba; } .c6 { color: #56d4dd; }
    }
"""


def rows(name):
    path = os.path.join(RESULTS, name)
    with open(path, newline="") as table:
        return list(csv.DictReader(table))


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def nice(low, high, count=5):
    """Round numbers from low to high."""
    step = 10 ** math.floor(math.log10((high - low) / count))
    while (high - low) / step > count:
        step *= 2 if str(step)[0] != "2" and "2" not in str(step).strip("0.") else 2.5
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


class Picture:
    def __init__(self, title, subtitle, width, height):
        self.title, self.width, self.height = title, width, height
        self.parts = []
        self.text(24, 32, title, "head")
        self.text(24, 52, subtitle, "soft")

    def text(self, x, y, words, kind="", anchor="start", turn=None):
        spin = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn is not None else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
                          f' class="{kind}"{spin}>{escape(words)}</text>')

    def add(self, part):
        self.parts.append(part)

    def legend(self, entries, x, y, room):
        """(label, colour, dashed), as many to a line as there is room for."""
        at = x
        for label, colour, dashed in entries:
            wide = 34 + 6.6 * len(label)
            if at > x and at + wide > x + room:
                at, y = x, y + 20
            self.add(f'<path class="line {colour}{" dash" if dashed else ""}"'
                     f' d="M{at:.1f} {y - 4}h20"/>')
            self.text(at + 26, y, label)
            at += wide

    def save(self, name):
        path = os.path.join(IMAGES, name)
        with open(path, "w") as out:
            out.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}"'
                      f' width="{self.width}" height="{self.height}" role="img">\n'
                      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
                      "<!-- made by tools/draw_studies.py from bench/results -->\n"
                      f"<title>{escape(self.title)}</title>\n<style>{STYLE}</style>\n"
                      f'<rect width="{self.width}" height="{self.height}" rx="8" class="back"/>\n'
                      + "\n".join(self.parts) + "\n</svg>\n")
        print(path)


class Panel:
    """Axes over places named by `ticks`; `spot` says where an x is, from 0 to 1."""

    def __init__(self, picture, box, title, x_label, y_label, ticks, spot, y_range, y_format="%.2f"):
        self.picture, self.spot, self.y_range = picture, spot, y_range
        self.x0, self.y0, self.wide, self.tall = box
        picture.text(self.x0, self.y0 - 10, title, "panel")
        for value in nice(*y_range):
            y = self.y(value)
            picture.add(f'<path class="grid" d="M{self.x0} {y:.1f}h{self.wide}"/>')
            picture.text(self.x0 - 7, y + 4, y_format % (value + 0.0), "soft", "end")
        for x, label in ticks:
            picture.text(self.x(x), self.y0 + self.tall + 18, label, "soft", "middle")
        picture.text(self.x0 + self.wide / 2, self.y0 + self.tall + 38, x_label, "soft", "middle")
        picture.text(self.x0 - 46, self.y0 + self.tall / 2, y_label, "soft", "middle", -90)

    def x(self, value):
        return self.x0 + self.wide * self.spot(value)

    def y(self, value):
        low, high = self.y_range
        return self.y0 + self.tall * (high - value) / (high - low)

    def line(self, points, colour, dashed=False, band=None):
        at = [(self.x(x), self.y(y)) for x, y in points]
        if band:
            edge = [(x, high) for x, _, high in band] + [(x, low) for x, low, _ in reversed(band)]
            self.picture.add(f'<path class="band {colour}" d="M' + "L".join(
                f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in edge) + 'Z"/>')
        self.picture.add(f'<path class="line {colour}{" dash" if dashed else ""}" d="M'
                         + "L".join(f"{x:.1f} {y:.1f}" for x, y in at) + '"/>')
        for x, y in at if not dashed else []:
            self.picture.add(f'<circle class="dot {colour}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')

    def level(self, value, colour, dashed=True):
        self.picture.add(f'<path class="line {colour}{" dash" if dashed else ""}"'
                         f' d="M{self.x0} {self.y(value):.1f}h{self.wide}"/>')


def spread(values, edge=0.06):
    """Places for a few values, evenly by rank."""
    place = {v: edge + (1 - 2 * edge) * k / (len(values) - 1) for k, v in enumerate(values)}
    return lambda value: place[value]


PERSONAL = [("cd", "private cd", "c1"), ("cd+finish", "private cd, finish", "c6"),
            ("one-shot", "one-shot", "c2"), ("one-shot-all", "one-shot, flooded", "c5"),
            ("chorus", "chorus", "c3"), ("chorus-rounds", "chorus, rounds", "c4")]
BUDGETS = ["0.05", "0.15", "0.55", "1.05"]


def personal():
    table = rows("personal_summary.csv")
    picture = Picture("Private, and better than alone",
                      "paper 000, section 5.1; 20 problems; \u03b4 = e\u207b\u2075, one record replaced; cd and one-shot: "
                      "trust local; chorus: trust secure, ideal sum", 860, 470)
    entries = [(label, colour, False) for _, label, colour in PERSONAL]
    picture.legend(entries + [("alone, tuned", "c0", True), ("cd without privacy", "c1", True)], 24, 78, 820)
    for at, p in enumerate(["100", "20"]):
        mine = [r for r in table if r["p"] == p]
        one = {(r["epsilon"], r["method"]): float(r["accuracy"]) for r in mine}
        panel = Panel(picture, (72 + 420 * at, 140, 340, 270), f"p = {p}", "\u03b5 of one record, spent by each agent",
                      "test accuracy", [(e, e) for e in BUDGETS], spread(BUDGETS), (0.5, 1.0))
        panel.level(one["none", "alone"], "c0")
        panel.level(one["inf", "cd"], "c1")
        for method, _, colour in PERSONAL:
            band = [(r["epsilon"], float(r["accuracy"]) - float(r["difference"]) + float(r["low"]),
                     float(r["accuracy"]) - float(r["difference"]) + float(r["high"]))
                    for e in BUDGETS for r in mine if r["method"] == method and r["epsilon"] == e]
            panel.line([(e, one[e, method]) for e in BUDGETS if (e, method) in one], colour, band=band)
    picture.save("personal.svg")


def groups():
    names = ["m10_30", "m31_55", "m56_80", "m81_100"]
    labels = ["10 to 30", "31 to 55", "56 to 80", "81 to 100"]
    table = rows("personal_summary.csv")
    picture = Picture("Who gains: agents by their number of records",
                      "p = 100; 20 problems; difference to tuned alone; \u03b4 = e\u207b\u2075, one record replaced", 860, 440)
    colours = {"1.05": "c3", "0.55": "c1", "0.15": "c2", "0.05": "c4"}
    picture.legend([(f"\u03b5 = {e}", colours[e], False) for e in reversed(BUDGETS)], 24, 78, 820)
    for at, (method, title, top) in enumerate([("one-shot", "one-shot, trust local", 0.1),
                                               ("chorus", "chorus, trust secure", 0.32)]):
        panel = Panel(picture, (72 + 420 * at, 124, 340, 250), title, "training records of an agent",
                      "gain in test accuracy", list(zip(names, labels)), spread(names, 0.12),
                      (-0.005 if at == 0 else -0.02, top))
        panel.level(0, "c0")
        for e in BUDGETS:
            mine = [r for r in table if (r["p"], r["epsilon"], r["method"]) == ("100", e, method)]
            panel.line([(n, float(mine[0][n])) for n in names], colours[e])
    picture.save("personal-groups.svg")


def chorus():
    table = rows("chorus.csv")
    picture = Picture("Chorus: kernel, rank and rounds",
                      "p = 100, 10 problems, validation accuracy (0.95 is the most); trust secure, "
                      "\u03b4 = e\u207b\u2075; full lines \u03b5 = 1.05, dashed 0.15", 860, 440)
    kernels = [("spectral", "c3"), ("power", "c4"), ("heat", "c1")]
    ranks = ["1", "2", "3", "5", "10", "20", "40"]
    panel = Panel(picture, (72, 124, 340, 250), "one round", "rank: voices summed", "validation accuracy",
                  [(r, r) for r in ranks], spread(ranks), (0.6, 0.9))
    picture.legend([(f"kernel {k}", c, False) for k, c in kernels], 24, 78, 400)
    for kernel, colour in kernels:
        for epsilon, dashed in ("1.05", False), ("0.15", True):
            one = {r["rank"]: float(r["accuracy"]) for r in table
                   if (r["part"], r["kernel"], r["epsilon"]) == ("rank", kernel, epsilon)}
            panel.line([(r, one[r]) for r in ranks], colour, dashed)
    rounds = ["1", "2", "4", "8", "16"]
    clips = sorted({r["clip"] for r in table if r["part"] == "rounds"}, key=float)
    panel = Panel(picture, (492, 124, 340, 250), "kernel spectral, rank 3", "rounds the budget is spread over",
                  "validation accuracy", [(r, r) for r in rounds], spread(rounds), (0.6, 0.9))
    colours = ["c2", "c5", "c6", "c3"]
    picture.legend([(f"clip {c}", k, False) for c, k in zip(clips, colours)], 448, 78, 420)
    for clip, colour in zip(clips, colours):
        for epsilon, dashed in ("1.05", False), ("0.15", True):
            one = {r["rounds"]: float(r["accuracy"]) for r in table
                   if (r["part"], r["clip"], r["epsilon"]) == ("rounds", clip, epsilon)}
            panel.line([(r, one[r]) for r in rounds], colour, dashed)
    picture.save("chorus.svg")


def literal():
    table = rows("literal.csv")
    names = list(dict.fromkeys(r["training"] for r in table))
    trials = table[0]["trials"]
    picture = Picture("What an attacker shows, where \u03b5 = 1 is claimed",
                      f"lower bounds on \u03b5 at confidence 0.95, {trials} trials, three seeds; above the line the "
                      "claim is refuted", 760, 360)
    top = max(float(r["shown"]) for r in table) * 1.08
    panel = Panel(picture, (72, 90, 650, 200), "", "training", "\u03b5 shown",
                  [(n, n) for n in names], spread(names, 0.1), (0, top), "%.1f")
    panel.level(1, "c4")
    for r in table:
        near = {"1": -9, "2": 0, "3": 9}[r["seed"]]
        picture.add(f'<circle class="dot {"c5" if r["refuted"] == "yes" else "c3"}"'
                    f' cx="{panel.x(r["training"]) + near:.1f}" cy="{panel.y(float(r["shown"])):.1f}" r="4.5"/>')
    picture.save("literal.svg")


STUDY = [("alone, tuned (no message)", "alone, tuned", "c0", True),
         ("cd without privacy", "cd without privacy", "c1", True),
         ("private cd; local", "private cd; local", "c1", False),
         ("private cd and a private finish; local", "private cd, finish; local", "c6", False),
         ("one-shot, flooded; local", "one-shot, flooded; local", "c5", False),
         ("chorus, one sum; secure", "chorus, one sum; secure", "c3", False),
         ("chorus, rounds chosen; secure", "chorus, rounds chosen; secure", "c4", False)]


def curves(table, panel):
    """series -> [(x, y, low, high)] of a panel of `tacit reproduce`."""
    out = {}
    for r in table:
        if r["panel"] == panel:
            out.setdefault(r["series"], []).append(
                (r["x"], float(r["y"]), float(r["low"]), float(r["high"])))
    return out


def draw_curve(panel, curve, colour, dashed=False):
    panel.line([(x, y) for x, y, _, _ in curve], colour, dashed,
               None if dashed else [(x, low, high) for x, _, low, high in curve])


def study_budgets():
    one = curves(rows("chorus_study.csv"), "chorus-budgets:accuracy-by-epsilon")
    picture = Picture("Accuracy by budget", "paper 000, section 5.1, p = 100; 20 problems, bands: 95 % intervals; "
                      "\u03b4 = e\u207b\u2075, one record replaced", 860, 470)
    picture.legend([(label, colour, dashed) for _, label, colour, dashed in STUDY], 24, 78, 820)
    budgets = [x for x, *_ in next(iter(one.values()))]
    panel = Panel(picture, (72, 140, 750, 270), "", "\u03b5 of one record, spent by each agent", "test accuracy",
                  [(b, b) for b in budgets], spread(budgets), (0.5, 1.0))
    for series, _, colour, dashed in STUDY:
        draw_curve(panel, one[series], colour, dashed)
    picture.save("chorus-budgets.svg")


def study_company():
    table = rows("chorus_study.csv")
    picture = Picture("Company, and distrust", "chorus, one sum, trust secure; bands: 95 % intervals where there is more "
                      "than one problem; \u03b4 = e\u207b\u2075", 860, 440)
    agents = curves(table, "chorus-agents:accuracy-by-agents")
    places = [x for x, *_ in agents["chorus, epsilon 1.05"]]
    panel = Panel(picture, (72, 140, 340, 230), "by the number of agents (ideal sum)", "agents", "test accuracy",
                  [(n, f"{int(float(n)):,}") for n in places], spread(places), (0.65, 1.0))
    kinds = [("chorus, epsilon 1.05", "\u03b5 = 1.05", "c3"), ("chorus, epsilon 0.15", "\u03b5 = 0.15", "c2"),
             ("chorus, epsilon 0.01", "\u03b5 = 0.01", "c4")]
    picture.legend([(label, colour, False) for _, label, colour in kinds] + [("alone", "c0", True)], 24, 78, 400)
    for series, _, colour in kinds:
        draw_curve(panel, agents[series], colour)
    draw_curve(panel, agents["alone, tuned (no message)"], "c0", True)
    colluders = curves(table, "chorus-colluders:accuracy-by-colluders")
    places = [x for x, *_ in colluders["epsilon 1.05"]]
    panel = Panel(picture, (492, 140, 340, 230), "100 agents, over masks", "part of the agents that may collude",
                  "test accuracy", [(f, f) for f in places], spread(places), (0.65, 1.0))
    kinds = [("epsilon 1.05", "\u03b5 = 1.05", "c3"), ("epsilon 0.55", "\u03b5 = 0.55", "c1"),
             ("epsilon 0.15", "\u03b5 = 0.15", "c2")]
    picture.legend([(label, colour, False) for _, label, colour in kinds], 448, 78, 400)
    for series, _, colour in kinds:
        draw_curve(panel, colluders[series], colour)
    picture.save("chorus-company.svg")


def study_audit():
    one = curves(rows("chorus_study.csv"), "chorus-audit:shown-by-claimed")
    picture = Picture("What an attacker shows of each \u03b5", "lower bounds with confidence 0.95, mean of three problems, bands: "
                      "least and largest; above the dashed line: refuted", 860, 400)
    claims = [x for x, *_ in one["the claim"]]
    low, high = math.log10(0.03), math.log10(7)
    panel = Panel(picture, (72, 110, 750, 220), "", "\u03b5 claimed", "\u03b5 shown", [(c, c) for c in claims],
                  lambda c: (math.log10(float(c)) - low) / (high - low), (0, 5.2), "%.0f")
    entries = [("the claim", "c0", True), ("one sum", "c3", False), ("four rounds", "c4", False)]
    picture.legend(entries, 24, 78, 820)
    for series, colour, dashed in entries:
        draw_curve(panel, one[series], colour, dashed)
    picture.save("chorus-audit.svg")


if __name__ == "__main__":
    for draw in personal, groups, chorus, literal, study_budgets, study_company, study_audit:
        draw()
