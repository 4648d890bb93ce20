"""Ids of features for an embedding table: any 64-bit feature gets the number of a row; new features get the next
rows.
"""

import heddle
import numpy


class FeatureIds:
    def __init__(self):
        self.rows = heddle.HashMap(key_dtype="int64", value_dtype="int64")

    def __call__(self, features):
        new = features[~self.rows.contains(features)]
        if len(new):
            new = heddle.unique(new, in_order=True)
            self.rows.insert(new, numpy.arange(len(self.rows), len(self.rows) + len(new)))
        return self.rows[features]


ids = FeatureIds()
monday = numpy.array([901, 77, 901, 2**60, -5])
tuesday = numpy.array([77, 12345, -5])
print(ids(monday), ids(tuesday))

embeddings = numpy.random.default_rng(4).random((len(ids.rows), 8))
print("embeddings of Tuesday:", embeddings[ids(tuesday)].shape)
