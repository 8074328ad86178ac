"""A report from data on standard input, as text for people and as a result:

    cordon run --stdin sales.csv -v result examples/report.py

Without data it uses its own. Files on /tmp are private to one run.
"""
import csv
import io
import sys
import tempfile
from collections import defaultdict
from decimal import Decimal

SAMPLE = """region,product,amount
north,apples,12.50
north,pears,7.25
south,apples,30.00
south,plums,4.10
"""

text = sys.stdin.read() or SAMPLE
totals = defaultdict(Decimal)
with tempfile.TemporaryFile("w+") as scratch:
    scratch.write(text)
    scratch.seek(0)
    for row in csv.DictReader(scratch):
        totals[row["region"]] += Decimal(row["amount"])

width = max(len(region) for region in totals)
for region, total in sorted(totals.items()):
    print(f"{region:<{width}}  {total:>10.2f}")

page = io.StringIO()
csv.writer(page).writerows(sorted(totals.items()))
result = {"totals": {region: float(total) for region, total in totals.items()}, "csv": page.getvalue()}
