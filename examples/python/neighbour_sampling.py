"""Neighbour sampling in a graph whose nodes have any 64-bit names: some neighbours of every node of a batch."""

import heddle
import numpy

random = numpy.random.default_rng(5)
names = random.integers(0, 2**62, 10_000)
source, target = names[random.integers(0, 10_000, 100_000)], names[random.integers(0, 10_000, 100_000)]

graph = heddle.MultiMap(source, target)
batch = names[:512]
neighbours, begins = graph.get(batch)
degree = numpy.diff(begins)
print(len(batch), "nodes,", len(neighbours), "edges, degrees up to", degree.max())

# Up to 5 of each: five random places in each list.
some = batch[degree > 0]
places = begins[:-1][degree > 0, None] + (random.random((len(some), 5)) * degree[degree > 0, None]).astype(numpy.int64)
sampled = neighbours[places]
print("sampled", sampled.shape[1], "of each node")

# The subgraph with nodes numbered from 0.
numbers, nodes = heddle.factorize(numpy.concatenate([some, sampled.ravel()]))
print("every name comes back:", (nodes[numbers[: len(some)]] == some).all())
