# SPDX-License-Identifier: Apache-2.0
"""Fiedler values and spectral gaps of "tacit graph" against networkx and numpy, on 50 graphs.

    graph_oracle.py TACIT      exit 0: all agree to 1e-8; 1: some do not; 77: no networkx here

Half of the graphs are drawn by tacit and read from the edge list it writes, half are drawn by
networkx, most of those with random weights, and handed to tacit as an edge list. Six have more
agents than tacit gives to LAPACK, so that its Lanczos iterations are compared too.
"""
import json
import random
import subprocess
import sys
import warnings

try:
    import networkx as nx
    import numpy as np
    import scipy  # noqa: F401  (networkx needs it for spectra)
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

warnings.simplefilter("ignore", FutureWarning)
TOLERANCE = 1e-8
TACIT = sys.argv[1]


def run_tacit(*words):
    done = subprocess.run([TACIT, "graph", "--json", *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tacit graph {' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout)


def read_edges(path, agents):
    graph = nx.Graph()
    graph.add_nodes_from(range(agents))
    with open(path) as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words:
                graph.add_edge(int(words[0]), int(words[1]), weight=float(words[2]))
    return graph


def write_edges(path, graph):
    with open(path, "w") as out:
        for a, b, weight in graph.edges(data="weight", default=1.0):
            out.write(f"{a} {b} {weight!r}\n")


def fiedler(graph, weight):
    value = float(sorted(nx.laplacian_spectrum(graph, weight=weight))[1])
    if len(graph) <= 300:  # networkx's own name for it, by another method
        other = nx.algebraic_connectivity(graph, weight, tol=1e-10, method="tracemin_lu", seed=1)
        assert abs(other - value) <= TOLERANCE, (other, value)
    return value


def spectral_gap(graph, mixing):
    """From the definition: doubly stochastic W, 1 - the second largest |eigenvalue|."""
    degree = [graph.degree(i) for i in range(len(graph))]
    matrix = np.zeros((len(graph), len(graph)))
    for a, b in graph.edges():
        largest = max(degree) if mixing == "uniform" else max(degree[a], degree[b])
        matrix[a, b] = matrix[b, a] = 1 / (1 + largest)
    np.fill_diagonal(matrix, 1 - matrix.sum(axis=1))
    values = np.sort(np.abs(np.linalg.eigvalsh(matrix)))
    return 1 - float(values[-2])


def drawn_by_tacit(k):
    """The k-th such graph: words for tacit."""
    large = k % 7 == 6
    agents = 1600 + 40 * k if large else 20 + 9 * k
    kinds = (
        ["--kind", "k-regular", "--k", 4 + 2 * (k % 3)],
        ["--kind", "k-out", "--k", 2 + k % 4],
        ["--kind", "erdos-renyi", "--probability", 12 / agents],
        ["--kind", "watts-strogatz", "--k", 6, "--probability", 0.2],
        ["--kind", "grid"],
    )
    return [*kinds[k % 5], "--agents", agents, "--seed", k]


def drawn_by_networkx(k):
    large = k % 7 == 6
    agents = 1600 + 30 * k if large else 15 + 8 * k
    graph = (
        nx.connected_watts_strogatz_graph(agents, 6, 0.3, seed=k),
        nx.barabasi_albert_graph(agents, 3, seed=k),
        nx.random_regular_graph(4, agents + agents % 2, seed=k),
        nx.gnp_random_graph(agents, (10 if k % 2 else 2) / agents, seed=k),  # also in pieces
        nx.random_tree(agents, seed=k),
    )[k % 5]
    if k % 4:
        dice = random.Random(k)
        for _, _, data in graph.edges(data=True):
            data["weight"] = dice.uniform(0.1, 3.0)
    return graph


def compare(k, by_tacit):
    mixing = "uniform" if k % 3 == 0 else "metropolis"
    if by_tacit:
        words = drawn_by_tacit(k)
        found = run_tacit(*words, "--mixing", mixing, "--edges", "edges.txt", "--force")
        graph = read_edges("edges.txt", found["agents"])
    else:
        graph = drawn_by_networkx(k)
        write_edges("edges.txt", graph)
        words = ["--kind", "edges", "--path", "edges.txt", "--agents", len(graph)]
        found = run_tacit(*words, "--mixing", mixing)
    connected = nx.is_connected(graph)
    expected = {
        "edges": graph.number_of_edges(),
        "components": nx.number_connected_components(graph),
        "fiedler": fiedler(graph, "weight") if connected else 0.0,
        "fiedler_unweighted": fiedler(graph, None) if connected else 0.0,
        "spectral_gap": spectral_gap(graph, mixing) if connected else 0.0,
    }
    worst = 0.0
    for key, value in expected.items():
        off = abs(found[key] - value) if found[key] is not None else float("inf")
        worst = max(worst, off)
        if not off <= TOLERANCE:
            print(f"{key} is {found[key]!r}, networkx says {value!r}: {words} (graph {k})")
    return worst, connected, len(graph)


def main():
    results = [compare(k, by_tacit) for by_tacit in (True, False) for k in range(25)]
    worst = max(result[0] for result in results)
    whole = sum(result[1] for result in results)
    large = sum(result[2] > 1500 for result in results)
    print(f"{len(results)} graphs, {whole} connected, {large} above 1500 agents: off by at most {worst:.1e}")
    sys.exit(0 if worst <= TOLERANCE and 35 <= whole < 50 and large >= 6 else 1)


main()
