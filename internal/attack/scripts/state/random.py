# attack: predict the next run's random numbers
# class: 19
# walls: environment

import random, tempfile, uuid

result = {"escaped": False, "detail": "drew", "drawn": [random.random(), random.getrandbits(64), random.Random().random(),
          next(tempfile._get_candidate_names()), str(uuid.uuid4())]}
# --- next run ---
import random, tempfile, uuid

def attempt():
    drawn = [random.random(), random.getrandbits(64), random.Random().random(), next(tempfile._get_candidate_names()), str(uuid.uuid4())]
    before = context["previous"]["drawn"]
    same = [i for i, (a, b) in enumerate(zip(drawn, before)) if a == b]
    return same and "%d of %d draws are the same: %s" % (len(same), len(drawn), drawn[same[0]])

result = judged(attempt)
