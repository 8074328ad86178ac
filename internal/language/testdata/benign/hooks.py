#: hook-tax-rate
#: A game hook that changes a tax rate from the state and the configuration.
import math

game_state = {"city": {"population": 12500, "happiness": 0.62, "treasury": 1800}, "turn": 14, "events": ["flood"]}
mod_config = {"max_rate": 0.25, "min_rate": 0.05, "disaster_relief": True}


def clamp(value, low, high):
    return max(low, min(high, value))


def modify_tax_rate(state, config):
    city = state["city"]
    base = 0.05 + 0.03 * math.log10(max(city["population"], 1))
    if city["happiness"] < 0.5:
        base *= 0.8
    if config.get("disaster_relief") and {"flood", "fire"} & set(state["events"]):
        base -= 0.02
    if city["treasury"] < 1000:
        base += 0.05
    return round(clamp(base, config["min_rate"], config["max_rate"]), 4)


result = {}
result["output"] = {"tax_rate": modify_tax_rate(game_state, mod_config), "income": int(game_state["city"]["population"] * modify_tax_rate(game_state, mod_config))}
#= {"output": {"tax_rate": 0.1529, "income": 1911}}

#: hook-loot-table
#: A hook that draws loot from weighted tables with a seed from the state.
import random


def weighted_choice(rng, table):
    total = sum(table.values())
    roll = rng.uniform(0, total)
    for item, weight in sorted(table.items()):
        roll -= weight
        if roll <= 0:
            return item
    return item


def roll_loot(state):
    rng = random.Random(state["seed"])
    drops = {}
    for enemy in state["enemies"]:
        for _ in range(1 + (enemy["level"] >= 5)):
            item = weighted_choice(rng, state["tables"][enemy["kind"]])
            drops[item] = drops.get(item, 0) + 1
    return drops


state = {
    "seed": 99,
    "enemies": [{"kind": "orc", "level": 3}, {"kind": "orc", "level": 7}, {"kind": "slime", "level": 1}],
    "tables": {"orc": {"gold": 70, "axe": 20, "gem": 10}, "slime": {"goo": 1}},
}
first, second = roll_loot(state), roll_loot(state)
many = roll_loot({**state, "enemies": [{"kind": "orc", "level": 1}] * 500})
result = {"same": first == second, "count": sum(first.values()), "goo": first["goo"], "fair": many["gold"] > many["axe"] > many["gem"]}
#= {"same": true, "count": 4, "goo": 1, "fair": true}

#: hook-several-functions
#: A mod with several functions and shared helpers that are called by name.
from dataclasses import dataclass, asdict


@dataclass
class Effect:
    target: str
    stat: str
    amount: int
    reason: str = ""


RULES = []


def rule(when):
    def register(f):
        RULES.append((when, f))
        return f

    return register


@rule(lambda s: s["weather"] == "rain")
def slow_archers(state):
    for unit in state["units"]:
        if unit["kind"] == "archer":
            yield Effect(unit["id"], "range", -2, "wet strings")


@rule(lambda s: s["hour"] >= 20 or s["hour"] < 6)
def night(state):
    for unit in state["units"]:
        yield Effect(unit["id"], "sight", 1 if unit["kind"] == "scout" else -3, "night")


def on_turn(state):
    return [asdict(e) for when, f in RULES if when(state) for e in f(state)]


def on_damage(attacker, defender, base):
    bonus = {"archer": {"knight": 0.5}, "spear": {"knight": 2.0}}.get(attacker["kind"], {}).get(defender["kind"], 1.0)
    return max(1, round(base * bonus) - defender.get("armor", 0))


def on_end(state):
    alive = [u for u in state["units"] if u.get("hp", 1) > 0]
    return {"alive": len(alive), "kinds": sorted({u["kind"] for u in alive})}


units = [{"id": "u1", "kind": "archer"}, {"id": "u2", "kind": "scout", "hp": 0}]
state = {"weather": "rain", "hour": 22, "units": units}
result = [on_turn(state), on_turn({**state, "weather": "sun", "hour": 12}), on_damage({"kind": "spear"}, {"kind": "knight", "armor": 3}, 5), on_damage({"kind": "x"}, {"kind": "y", "armor": 9}, 5), on_end(state)]
#= [[{"target": "u1", "stat": "range", "amount": -2, "reason": "wet strings"}, {"target": "u1", "stat": "sight", "amount": -3, "reason": "night"}, {"target": "u2", "stat": "sight", "amount": 1, "reason": "night"}], [], 7, 1, {"alive": 1, "kinds": ["archer"]}]

#: hook-price-rules
#: Shop pricing rules with stacking discounts, decimals and an explanation.
from decimal import Decimal, ROUND_HALF_UP
from datetime import date


class Rule:
    name = "rule"

    def applies(self, cart):
        return True

    def discount(self, cart):
        return Decimal(0)


class Bulk(Rule):
    def __init__(self, count, percent):
        self.name = f"bulk {count}+"
        self.count, self.percent = count, Decimal(percent)

    def applies(self, cart):
        return sum(line["qty"] for line in cart["lines"]) >= self.count

    def discount(self, cart):
        return subtotal(cart) * self.percent / 100


class Weekday(Rule):
    def __init__(self, day, amount):
        self.name, self.day, self.amount = f"day {day}", day, Decimal(amount)

    def applies(self, cart):
        return date.fromisoformat(cart["date"]).weekday() == self.day

    def discount(self, cart):
        return self.amount


def subtotal(cart):
    return sum((Decimal(line["price"]) * line["qty"] for line in cart["lines"]), Decimal(0))


def price(cart, rules):
    total, steps = subtotal(cart), []
    for r in rules:
        if r.applies(cart):
            off = r.discount(cart).quantize(Decimal("0.01"), ROUND_HALF_UP)
            total -= off
            steps.append(f"{r.name}: -{off}")
    return {"total": str(max(total, Decimal(0))), "steps": steps}


rules = [Bulk(10, "7.5"), Weekday(2, "1.00")]
cart = {"date": "2024-05-08", "lines": [{"price": "3.99", "qty": 8}, {"price": "0.35", "qty": 4}]}
result = {"output": [price(cart, rules), price({**cart, "date": "2024-05-09", "lines": cart["lines"][:1]}, rules)]}
#= {"output": [{"total": "29.82", "steps": ["bulk 10+: -2.50", "day 2: -1.00"]}, {"total": "31.92", "steps": []}]}

#: hook-quest-engine
#: A quest engine with conditions as small data trees and template rewards.
def check(condition, state):
    kind, *args = condition
    if kind == "all":
        return all(check(c, state) for c in args)
    if kind == "any":
        return any(check(c, state) for c in args)
    if kind == "not":
        return not check(args[0], state)
    path, wanted = args
    value = state
    for part in path.split("."):
        value = value.get(part, 0) if isinstance(value, dict) else 0
    if kind == "has":
        return isinstance(value, list) and wanted in value
    return value == wanted if kind == "eq" else value >= wanted


QUESTS = {
    "rats": {"needs": ["ge", "kills.rat", 5], "gives": {"gold": 20}, "text": "{name} cleared {kills[rat]} rats"},
    "key": {"needs": ["all", ["has", "bag", "key"], ["not", ["eq", "door", "open"]]], "gives": {"xp": 50}, "text": "{name} may open the door"},
    "rich": {"needs": ["any", ["ge", "gold", 100], ["has", "bag", "crown"]], "gives": {"title": 1}, "text": "{name} has {gold:>5} gold"},
}


def advance(state):
    done, messages = set(state.get("done", [])), []
    changed = True
    while changed:
        changed = False
        for name, quest in QUESTS.items():
            if name not in done and check(quest["needs"], state):
                done.add(name)
                changed = True
                messages.append(quest["text"].format(**state))
                for k, n in quest["gives"].items():
                    state[k] = state.get(k, 0) + n
    state["done"] = sorted(done)
    return messages


state = {"name": "Ann", "gold": 85, "kills": {"rat": 6}, "bag": ["rope", "key"], "door": "shut"}
result = {"messages": advance(state), "gold": state["gold"], "done": state["done"], "again": advance(state)}
#= {"messages": ["Ann cleared 6 rats", "Ann may open the door", "Ann has   105 gold"], "gold": 105, "done": ["key", "rats", "rich"], "again": []}

#: hook-ai-behaviour-tree
#: A behaviour tree for an enemy with sequences, selectors and decorators.
SUCCESS, FAILURE, RUNNING = "success", "failure", "running"


class Node:
    def __init__(self, *children):
        self.children = children

    def tick(self, board):
        raise NotImplementedError


class Selector(Node):
    def tick(self, board):
        for child in self.children:
            if (status := child.tick(board)) != FAILURE:
                return status
        return FAILURE


class Sequence(Node):
    def tick(self, board):
        for child in self.children:
            if (status := child.tick(board)) != SUCCESS:
                return status
        return SUCCESS


class Condition(Node):
    def __init__(self, test):
        super().__init__()
        self.test = test

    def tick(self, board):
        return SUCCESS if self.test(board) else FAILURE


class Action(Node):
    def __init__(self, name, effect, ticks=1):
        super().__init__()
        self.name, self.effect, self.ticks = name, effect, ticks
        self._left = ticks

    def tick(self, board):
        self._left -= 1
        if self._left > 0:
            board["log"].append(f"{self.name}...")
            return RUNNING
        self._left = self.ticks
        self.effect(board)
        board["log"].append(self.name)
        return SUCCESS


class Invert(Node):
    def tick(self, board):
        return {SUCCESS: FAILURE, FAILURE: SUCCESS}.get(status := self.children[0].tick(board), status)


tree = Selector(
    Sequence(Condition(lambda b: b["hp"] < 4), Action("rest", lambda b: b.update(hp=b["hp"] + 6), ticks=2)),
    Sequence(Condition(lambda b: b["distance"] <= 1), Action("bite", lambda b: b.update(hp=b["hp"] - 3))),
    Sequence(Invert(Condition(lambda b: b["asleep"])), Action("chase", lambda b: b.update(distance=b["distance"] - 2))),
    Action("snore", lambda b: None),
)
board = {"hp": 8, "distance": 4, "asleep": False, "log": []}
statuses = [tree.tick(board) for _ in range(7)]
sleepy = {"hp": 9, "distance": 9, "asleep": True, "log": []}
tree.tick(sleepy)
result = {"log": board["log"], "statuses": statuses, "hp": board["hp"], "sleepy": sleepy["log"]}
#= {"log": ["chase", "chase", "bite", "bite", "rest...", "rest", "bite"], "statuses": ["success", "success", "success", "success", "running", "success", "success"], "hp": 5, "sleepy": ["snore"]}

#: hook-chat-commands
#: Chat commands for a bot with argument parsing, permissions and help text.
import re
import textwrap
from functools import wraps

COMMANDS = {}


class CommandError(Exception):
    pass


def command(pattern, *, role="user"):
    regex = re.compile(rf"^/{pattern}$", re.IGNORECASE)

    def decorate(f):
        @wraps(f)
        def run(sender, text):
            m = regex.match(text)
            if m is None:
                return None
            if role == "admin" and not sender.get("admin"):
                raise CommandError(f"{f.__name__} is for admins")
            return f(sender, **{k: v for k, v in m.groupdict().items() if v is not None})

        COMMANDS[f.__name__] = run
        return run

    return decorate


@command(r"roll\s+(?P<count>\d+)d(?P<sides>\d+)")
def roll(sender, count, sides):
    """Roll dice: the average is told."""
    return f"{sender['name']} expects {int(count) * (int(sides) + 1) / 2:g}"


@command(r"kick\s+(?P<who>\w+)(?:\s+(?P<why>.+))?", role="admin")
def kick(sender, who, why="no reason"):
    """Remove a player
    from the game."""
    return f"{who} was kicked: {why}"


@command("help")
def help(sender):
    """Show this text."""
    return [f"{name}: {' '.join(textwrap.dedent(f.__doc__).split())}" for name, f in sorted(COMMANDS.items())]


def handle(sender, text):
    try:
        for run in COMMANDS.values():
            if (answer := run(sender, text)) is not None:
                return answer
        raise CommandError(f"unknown command {text.split()[0]}")
    except CommandError as e:
        return f"error: {e}"


ann, bob = {"name": "Ann", "admin": True}, {"name": "Bob"}
result = [handle(bob, "/roll 3d6"), handle(bob, "/kick Ann"), handle(ann, "/KICK Bob spam and noise"), handle(ann, "/kick Bob"), handle(bob, "/fly now"), handle(bob, "/help")]
#= ["Bob expects 10.5", "error: kick is for admins", "Bob was kicked: spam and noise", "Bob was kicked: no reason", "error: unknown command /fly", ["help: Show this text.", "kick: Remove a player from the game.", "roll: Roll dice: the average is told."]]
