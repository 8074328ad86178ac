package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// guarded are programs that guards could slow down, in addition to those for the walls:
// stored attributes, and functions that the library calls.
var guarded = []program{
	{"bodies in space", 6_000, `
import math

class Body:
    def __init__(self, x, y, z, vx, vy, vz, mass):
        self.x, self.y, self.z = x, y, z
        self.vx, self.vy, self.vz = vx, vy, vz
        self.mass = mass

    def attract(self, other, dt):
        dx, dy, dz = self.x - other.x, self.y - other.y, self.z - other.z
        square = dx * dx + dy * dy + dz * dz
        pull = dt / (square * math.sqrt(square))
        self.vx -= dx * other.mass * pull
        self.vy -= dy * other.mass * pull
        self.vz -= dz * other.mass * pull
        other.vx += dx * self.mass * pull
        other.vy += dy * self.mass * pull
        other.vz += dz * self.mass * pull

    def move(self, dt):
        self.x += dt * self.vx
        self.y += dt * self.vy
        self.z += dt * self.vz

def work():
    bodies = [Body(3.0 * i, 1.0 + i * i, 0.5 * i, 0.1, 0.2 * i, 0.3, 1.0 / (1 + i)) for i in range(5)]
    pairs = [(a, b) for i, a in enumerate(bodies) for b in bodies[i + 1:]]
    for _ in range(%d):
        for a, b in pairs:
            a.attract(b, 0.001)
        for body in bodies:
            body.move(0.001)
    return sum(body.x + body.y + body.z for body in bodies)
`},
	{"sorting with keys", 60, `
class Citizen:
    def __init__(self, number):
        self.name = "citizen %%d" %% (number * 7919 %% 5003)
        self.age = number * 31 %% 97
        self.taxes = {"paid": number * 17 %% 1009}

def work():
    people, total = [Citizen(i) for i in range(2000)], 0
    for _ in range(%d):
        people.sort(key=lambda p: p.name)
        people.sort(key=lambda p: (p.age, p.taxes["paid"]))
        total += sorted(people, key=lambda p: -p.taxes["paid"])[7].age
    return total
`},
}

// language compares the speed of long scripts under the language rules with the speed of the
// same scripts without them, behind the same walls.
func (b *bench) language(ctx context.Context, t *table) error {
	for _, p := range slices.Concat(programs, guarded) {
		with, without, err := b.compare(ctx, p, 5, time.Second, b.walled(true), b.walled(false))
		if err != nil {
			return err
		}
		t.add(row{
			position: rowLanguage, Measure: "speed of a long restricted script: " + p.name, Value: fmt.Sprintf("%.3f s", with.cpu.Seconds()),
			Number: with.cpu.Seconds(), Ratio: over(without.cpu, with.cpu), Must: atLeast(0.8, "0.8 ×"),
			Note: onTheWall(with, without),
		})
	}
	return nil
}

// walled measures with the Runner's clock, since restricted code cannot read one. The time
// includes checking the script against the rules.
func (b *bench) walled(restricted bool) side {
	return func(ctx context.Context, source string) (times, string, error) {
		result, err := b.long(ctx, run.Request{Script: run.Script{Source: source + "result = work()", Restricted: restricted}})
		if err != nil {
			return times{}, "", err
		}
		return times{result.Usage.WallTime, result.Usage.CPUTime}, string(result.Value), nil
	}
}
