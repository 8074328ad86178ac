weights = mod_config["weights"]


def worth(city):
    total = city["population"] * weights["people"] * (1 - city["unrest"] / 100)
    for building in city["buildings"]:
        total = total + weights.get(building, 1)
    return total


ranked = sorted(game_state["cities"], key=worth)
empire = 0
for city in ranked:
    empire = empire + worth(city)
army = 0
for unit in game_state["units"]:
    army = army + unit["count"] * unit["strength"]

result["output"] = {
    "score": round(empire + weights["army"] * math.sqrt(army) + game_state["treasury"] / 100, 2),
    "capital": ranked[-1]["name"],
    "weakest": ranked[0]["name"],
}
