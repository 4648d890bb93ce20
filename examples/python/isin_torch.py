"""torch.isin by hashing, on the device of the tensors; a HashSet where the same elements are asked for again and
again.
"""

import heddle
import torch

tokens = torch.randint(0, 50_000, (8, 4096), generator=torch.Generator().manual_seed(3))
banned = torch.arange(0, 50_000, 7)

mask = heddle.isin(tokens, banned)
print(tuple(mask.shape), "as torch.isin:", bool((mask == torch.isin(tokens, banned)).all()))

banned_set = heddle.HashSet(banned)
print("from a set:", bool((banned_set.contains(tokens) == mask).all()))
