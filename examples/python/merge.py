"""pandas.merge on large frames: heddle.join finds the rows, pandas puts the columns together."""

import heddle
import numpy
import pandas

random = numpy.random.default_rng(2)
orders = pandas.DataFrame({"customer": random.integers(0, 50_000, 200_000), "price": random.random(200_000)})
customers = pandas.DataFrame({"customer": random.permutation(60_000), "city": random.integers(0, 100, 60_000)})

left, right = heddle.join(orders["customer"], customers["customer"])
merged = orders.iloc[left].assign(city=customers["city"].to_numpy()[right])
print(len(merged), "rows")

expected = orders.merge(customers, on="customer")
print("as pandas.merge:", numpy.isclose(merged["price"].sum(), expected["price"].sum()))

by_city = heddle.groupby("city", merged).agg(revenue=("price", "sum"), orders="size")
print(len(by_city["city"]), "cities,", by_city["orders"].sum(), "orders")

never = heddle.join(customers["customer"], orders["customer"], "anti")
print(len(never) == 60_000 - len(expected["customer"].unique()), "for those who never ordered")
