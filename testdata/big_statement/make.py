#!/usr/bin/env python3
"""Writes suite.toml: the same water balance over Python's integers, column by column.

Checks itself: in every column what came in has gone out, lies as snow, or is still in the soil.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "big_statement.cl",
    "big_statement",
    """Water balance. Incomplete on purpose: not written for coverage but for timing.""",
    tolerance={"abs": 0.0, "rel": 1e-6},
)
BARE, YOUNG, FULL, RIPE = range(4)
NEVER, FIXED, DEMAND = range(3)
FACTOR = {BARE: 2, YOUNG: 6, FULL: 12, RIPE: 4}


class Column:
    def __init__(self, soil, slope, capacity, wilting):
        self.soil, self.slope, self.capacity, self.wilting = list(soil), slope, capacity, wilting
        self.snow = self.heat = self.roots = self.stress = self.dry = 0
        self.runoff = self.drainage = self.evaporation = self.irrigation = self.transpiration = 0
        self.stage = BARE

    def weather(self, rain, warmth):
        if warmth <= 0:
            self.snow += rain
            water = 0
        else:
            melt = min(4 * warmth, self.snow)
            self.snow -= melt
            water = rain + melt
        self.dry = 0 if water else self.dry + 1
        return water

    def grow(self, sown_today, warmth):
        if sown_today:
            self.stage, self.heat, self.roots = YOUNG, 0, 1
        elif self.stage != BARE:
            self.heat += max(warmth - 5, 0)
        factor = FACTOR[self.stage]
        if self.stage == YOUNG and self.heat > 60:
            self.stage, self.roots = FULL, min(len(self.soil), 3)
        elif self.stage == FULL and self.heat > 200:
            self.stage = RIPE
        return factor

    def irrigate(self, policy, day):
        if policy == FIXED:
            return 120 if day % 7 == 3 else 0
        if policy == DEMAND and self.stage in (YOUNG, FULL):
            missing = sum(max(c - s, 0) for c, s in zip(self.capacity[: self.roots], self.soil))
            if missing > 150 and self.dry > 1:
                return min(missing // 2, 200)
        return 0

    def infiltrate(self, water):
        shed = min((water - 100) * self.slope // 16, water) if self.slope > 0 and water > 100 else 0
        self.runoff += shed
        water -= shed
        for i, room in enumerate(self.capacity):
            level = self.soil[i] + water
            surplus = max(level - room, 0)
            water = surplus - surplus // 8 if surplus > 40 else surplus
            self.soil[i] = level - water
        self.drainage += water

    def dry_out(self, warmth, factor, day):
        demand = max(warmth, 0) * factor // 8
        if self.stage in (BARE, RIPE):
            lost = min(demand, max(self.soil[0] - self.wilting[0] // 2, 0))
            self.soil[0] -= lost
            self.evaporation += lost
            return
        left = demand
        for i in range(self.roots):
            taken = min(max(self.soil[i] - self.wilting[i], 0), left)
            self.soil[i] -= taken
            left -= taken
        self.transpiration += demand - left
        if 4 * left > demand:
            self.stress += 1
        elif self.stress and not left and day % 2 == 0:
            self.stress -= 1

    def creep(self):
        for _ in range(3):
            moved = False
            for i in reversed(range(1, len(self.soil))):
                step = self.soil[i] - self.soil[i - 1]
                if step > 64 and self.soil[i - 1] < self.capacity[i - 1]:
                    self.soil[i] -= step // 16
                    self.soil[i - 1] += step // 16
                    moved = True
            if not moved:
                return

    def run(self, rain, temperature, policy, sowing):
        before = sum(self.soil)
        for day, (fallen, warmth) in enumerate(zip(rain, temperature)):
            water = self.weather(fallen, warmth)
            factor = self.grow(day == sowing, warmth)
            given = self.irrigate(policy, day)
            self.irrigation += given
            self.infiltrate(water + given)
            self.dry_out(warmth, factor, day)
            if self.stress >= 20:
                self.stage, self.stress, self.roots = BARE, 0, 0
            self.creep()
        out = self.runoff + self.drainage + self.evaporation + self.transpiration
        assert before + sum(rain) + self.irrigation == sum(self.soil) + self.snow + out
        return self


def case(name, days, layers, columns, items, policy, sowing, rain, temperature, group=16):
    rain, temperature = [rain(d) for d in range(days)], [temperature(d) for d in range(days)]
    capacity = [300 + 100 * i for i in range(layers)]
    wilting = [100 + 30 * i for i in range(layers)]
    slope = [c % 9 - 1 for c in range(columns)]
    soil = [[150 + (c * 37 + i * 91) % 300 for i in range(layers)] for c in range(columns)]
    done = [Column(soil[c], slope[c], capacity, wilting).run(rain, temperature, policy, sowing) for c in range(columns)]
    given = [c.irrigation + sum(rain) for c in done]
    suite.test(
        name,
        [items],
        {
            "rain": values(rain),
            "temperature": values(temperature),
            "days": days,
            "capacity": values(capacity),
            "wilting": values(wilting),
            "layers": layers,
            "slope": values(slope),
            "columns": columns,
            "policy": policy,
            "sowing_day": sowing,
            "water": expect(values(w for s in soil for w in s), [w for c in done for w in c.soil]),
            "balance": expect(
                values([-1] * 4 * columns),
                [v for c in done for v in (c.runoff, c.drainage, c.evaporation, c.irrigation)],
            ),
            "stress": expect(fill(-1, columns), [c.stress for c in done]),
            "final_stage": expect(fill(-1, columns), [c.stage for c in done]),
            "efficiency": expect(
                fill(-1.0, columns), [c.transpiration / g if g else 0.0 for c, g in zip(done, given)]
            ),
        },
        local=[group],
    )


showers = lambda d: (d * d * 7) % 61 * 5 if d % 3 == 0 else 0
case("a season on demand", 60, 4, 60, 64, DEMAND, 10, showers, lambda d: (d * 5) % 9 + d // 4 - 3)
case("watered weekly", 45, 3, 64, 64, FIXED, 5, lambda d: 400 if d % 15 == 0 else 0, lambda d: 8 + (d * 3) % 11)
case("drought", 40, 2, 32, 64, NEVER, 2, lambda d: 0, lambda d: 22 + d % 5)
case("winter, bare", 30, 5, 64, 64, NEVER, 99, lambda d: (d * 11) % 50, lambda d: (d * 7) % 12 - 8)
suite.write()
