"""A hook: how a mod changes the scores of a game, round after round.

    cordon hook examples/score.py --state @examples/state.json --config @examples/mod.json

The game gives `game_state`, the mod `mod_config`; the answer is what stands in
result["output"]. The module math is there without an import.
"""
# ruff: noqa: F821 (cordon gives game_state, mod_config, result and math)


def earned(player):
    """What a player did in this round, and more for a streak."""
    points = sum(mod_config["points"].get(deed, 0) * times for deed, times in player["deeds"].items())
    streak = min(player["streak"], mod_config["streak_cap"])
    return points * (1 + mod_config["streak_bonus"] * streak)


def handicap(player, most):
    """Players who are behind catch up faster."""
    return 1 + mod_config["underdog_bonus"] * (1 - player["score"] / most)


players = game_state["players"]
most = max([player["score"] for player in players] + [1])
scores = {player["name"]: player["score"] + math.floor(earned(player) * handicap(player, most)) for player in players}

for name in sorted(scores, key=scores.get, reverse=True):
    print(f"{name:<8}{scores[name]:>6}")

result["output"] = {"round": game_state["round"] + 1, "leader": max(scores, key=scores.get), "scores": scores}
