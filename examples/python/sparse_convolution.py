"""The kernel map of a sparse convolution: for each offset the pairs of voxels that are neighbours by it."""

import heddle
import numpy

random = numpy.random.default_rng(6)
points = random.integers(0, 64, (20_000, 3))


def packed(coordinates):
    """Three coordinates of 21 bits as one number; the offset keeps -1 out of the neighbouring field."""
    x, y, z = (coordinates + 1).astype(numpy.int64).T
    return numpy.ascontiguousarray(x << 42 | y << 21 | z)


voxels = points[heddle.unique_all(packed(points)).indices]
rows = heddle.HashMap(packed(voxels), numpy.arange(len(voxels)))

offsets = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
kernel_map = []
for offset in offsets:
    neighbour, found = rows.find(packed(voxels + numpy.array(offset)))
    kernel_map.append((numpy.flatnonzero(found), neighbour[found]))

print(len(voxels) == len({tuple(point) for point in points.tolist()}), "voxels without duplicates")
middle = kernel_map[13]
print("each voxel is its own neighbour:", (middle[0] == middle[1]).all())
one, other = kernel_map[0], kernel_map[26]
print("offsets mirror each other:", sorted(zip(*one)) == sorted(zip(other[1], other[0])))
