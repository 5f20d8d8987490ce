#!/usr/bin/env python3
"""Writes the suites, with products of small integers, which all types hold."""

import pathlib
import random

HERE = pathlib.Path(__file__).parent
draw = random.Random(4)


def numbers(count, most=3):
    return [draw.randint(-most, most) for _ in range(count)]


def write(name, entry, test, grid, arguments):
    lines = ["# Written by make.py.", 'kernel = "cuda_tensors.cu"', f'entry = "{entry}"', "", "[[test]]", f'name = "{test}"', f"grid = [{grid}]", "block = [32]",
             "[test.args]", *arguments]
    (HERE / name).write_text("\n".join(lines) + "\n")


def values(given, real=True):
    return "[" + ", ".join(str(float(one)) if real else str(one) for one in given) + "]"


def main():
    inner = 32
    a, b, c = numbers(32 * inner), numbers(16 * inner), numbers(32 * 16)
    product = [[sum(a[i * inner + k] * b[j * inner + k] for k in range(inner)) for j in range(16)] for i in range(32)]
    whole = [2 * product[i][j] + c[i * 16 + j] for i in range(32) for j in range(16)]
    rounded = [product[16 * block + i][j] + 1 for block in range(2) for j in range(16) for i in range(16)]
    write("suite.toml", "tiles", "two tiles", 2, [f"a = {{ values = {values(a)} }}", f"b = {{ values = {values(b)} }}",
          f"c = {{ values = {values(c)}, expect = {{ values = {values(whole)} }} }}",
          f"rounded = {{ fill = 0.0, len = 512, expect = {{ values = {values(rounded)} }} }}", f"inner = {inner}"])

    a, b = numbers(32 * 16, 100), numbers(16 * 8, 100)
    first = [100 + sum(a[k * 32 + i] * b[k * 8 + j] for k in range(16)) for i in range(32) for j in range(8)]
    second = [100 + sum(a[i * 16 + k] * b[j * 16 + k] for k in range(16)) for i in range(32) for j in range(8)]
    write("suite_bytes.toml", "bytes", "both layouts", 2, [f"a = {{ values = {values(a, False)} }}", f"b = {{ values = {values(b, False)} }}",
          f"c = {{ fill = 0, len = 512, expect = {{ values = {values(first + second, False)} }} }}"])

    a, b = numbers(512), numbers(256)
    found = []
    for block in range(2):
        for i in range(16):
            for j in range(8):
                first = 0 if block == 0 else 1 + j % 2 + 2 * (i // 8)
                found.append(first + sum(a[256 * block + 16 * i + k] * b[128 * block + 8 * k + j] for k in range(16)))
    write("suite_instructions.toml", "instructions", "sums of halves and of floats", 2, [f"a = {{ values = {values(a)} }}", f"b = {{ values = {values(b)} }}",
          f"c = {{ fill = 0.0, len = 256, expect = {{ values = {values(found)} }} }}", "halves = 1"])


if __name__ == "__main__":
    main()
