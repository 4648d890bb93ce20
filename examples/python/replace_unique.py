"""numpy.unique without sorting: the same answers for arrays of millions, from a hash table."""

import heddle
import numpy

visits = numpy.random.default_rng(1).integers(0, 1000, 1_000_000)

values, counts = heddle.unique_counts(visits)  # in no particular order: nothing is sorted
print(len(values), "visitors,", counts.sum(), "visits")

first_seen = heddle.unique(visits, in_order=True)
print("the first three:", first_seen[:3].tolist() == visits[:3].tolist())

top = heddle.value_counts(visits, top=3)
print("the most frequent came", top.counts[0] == numpy.bincount(visits).max())

sorted_values, inverse = heddle.unique(visits, return_inverse=True, sorted=True)
print("as numpy.unique:", (sorted_values[inverse] == visits).all())
