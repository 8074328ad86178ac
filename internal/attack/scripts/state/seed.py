# attack: fix the next run's random numbers with a seed
# class: 19
# walls: environment

import random

random.seed(12345)
random.setstate(random.getstate())
random.random = lambda: 4
result = {"escaped": False, "detail": "seeded"}
# --- next run ---
import random

result = judged(lambda: random.random() == 4 and "random.random is still replaced")
