"""Numbers in, numbers out; the caller gives `context` and reads `result`:

    cordon run --context '{"numbers": [3, 1, 4, 1, 5]}' -v result examples/numbers.py
"""
import math
import statistics

numbers = (context or {}).get("numbers", [3, 1, 4, 1, 5, 9, 2, 6])  # noqa: F821 (cordon gives it)

result = {
    "count": len(numbers),
    "sum": math.fsum(numbers),
    "mean": statistics.fmean(numbers),
    "median": statistics.median(numbers),
    "deviation": statistics.pstdev(numbers),
    "sorted": sorted(numbers),
}
