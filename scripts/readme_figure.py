#!/usr/bin/env python3
"""readme_figure.py [--check]: README's table of rates and the picture beside it, from bench/results.

Writes docs/images/rates.svg and the lines between <!-- rates --> and <!-- end --> in README.md. With --check nothing
is written: exits with 1 when either is not what the results say. Python's standard library is all it needs.
"""
import csv
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/images/rates.svg"
README = ROOT / "README.md"
OPERATIONS = ("build", "find", "absent")

CPU_FILE = "bench/results/2026-11-16_cpu_peers_all_u32.csv"
CPU_NAMES = {  # in the file: in the table
    "heddle": "Heddle, load 0.8",
    "plain linear probing, 0.5": "linear probing with prefetch, load 0.5",
    "folklore, load 0.5": "folklore (growt's algorithm, rewritten), load 0.5",
    "boost::concurrent_flat_map": "boost::concurrent_flat_map",
    "absl::flat_hash_map": "absl::flat_hash_map, one writer",
}
GPU_FILE = "bench/results/2026-11-17_h200_beside_peers.csv"
GPU_OPERATIONS = {"fill an empty table": "build", "find present": "find", "find absent": "absent"}
GPU_NAMES = {  # (in the file, load): in the table; load 0.5 is where cuCollections is at its best
    ("Heddle", "0.8"): "Heddle, load 0.8",
    ("Heddle build", "0.8"): "Heddle, load 0.8",
    ("cuCollections", "0.5"): "cuCollections, load 0.5 (its best)",
    ("cuCollections", "0.8"): "cuCollections, load 0.8",
}


def rows_of(name):
    with open(ROOT / name, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def cpu_rates():
    """{contestant: {operation: million a second}}, and the bytes a pair of each."""
    rates, sizes = {name: {} for name in CPU_NAMES.values()}, {}
    for row in rows_of(CPU_FILE):
        operation = {"miss": "absent"}.get(row["op"], row["op"])
        if row["contestant"] in CPU_NAMES and operation in OPERATIONS:
            name = CPU_NAMES[row["contestant"]]
            rates[name][operation] = float(row["mops"])
            sizes[name] = float(row["bytes_per_entry"])
    return rates, sizes


def gpu_rates():
    """{contestant: {operation: billion a second}} of maps of 2^26 pairs of u32."""
    rates = {name: {} for name in GPU_NAMES.values()}
    for row in rows_of(GPU_FILE):
        shape = (row["subject"], row["n"], row["key_bits"])
        if shape != ("map", str(2**26), "32") or row["operation"] not in GPU_OPERATIONS:
            continue
        name = GPU_NAMES.get((row["contestant"], row["load"]))
        if name is not None:
            rates[name][GPU_OPERATIONS[row["operation"]]] = float(row["gops"])
    return rates


def table(cpu, sizes, gpu):
    lines = ["| two CPU cores, 2^25 pairs of u32, million a second | build | find | absent | bytes a pair |", "|---|---|---|---|---|"]
    for name, rates in cpu.items():
        shown = f"**{name}**" if name.startswith("Heddle") else name
        lines.append(f"| {shown} | " + " | ".join(f"{rates[o]:.0f}" for o in OPERATIONS) + f" | {sizes[name]:.0f} |")
    lines += ["", "| one H200, 2^26 pairs of u32, billion a second | build | find | absent |", "|---|---|---|---|"]
    for name, rates in gpu.items():
        shown = f"**{name}**" if name.startswith("Heddle") else name
        lines.append(f"| {shown} | " + " | ".join(f"{rates[o]:.1f}" for o in OPERATIONS) + " |")
    return "\n".join(lines) + "\n"


def picture(cpu, gpu):
    """Two panels of bars, one colour a contestant; readable on light and on dark pages."""
    colours = {"Heddle, load 0.8": "#d9480f"}
    others = ["#868e96", "#adb5bd", "#ced4da", "#dee2e6"]
    width, bar, gap, left, top = 760, 13, 10, 60, 52
    out, height = [], 0

    def text(x, y, words, extra=""):
        out.append(f'<text x="{x:.0f}" y="{y:.0f}" {extra}>{words}</text>')

    for column, (title, rates, form) in enumerate((
            ("Two CPU cores, million pairs a second", cpu, "{:.0f}"), ("One H200, billion pairs a second", gpu, "{:.1f}"))):
        x0 = left + column * width / 2
        room = width / 2 - left - 46
        most = max(max(r.values()) for r in rates.values())
        text(x0, 20, title, 'font-weight="bold"')
        y = top
        colour = {name: colours.get(name) or others[i - 1] for i, name in enumerate(rates)}
        for operation in OPERATIONS:
            text(x0 - 6, y + bar * len(rates) / 2 + 4, operation, 'text-anchor="end"')
            for name in rates:
                length = room * rates[name][operation] / most
                out.append(f'<rect x="{x0:.0f}" y="{y}" width="{length:.1f}" height="{bar - 2}" fill="{colour[name]}"/>')
                text(x0 + length + 4, y + bar - 3, form.format(rates[name][operation]), 'font-size="10"')
                y += bar
            y += gap
        for name in rates:
            out.append(f'<rect x="{x0:.0f}" y="{y}" width="10" height="10" fill="{colour[name]}"/>')
            text(x0 + 16, y + 9, name, 'font-size="11"')
            y += 16
        height = max(height, y + 8)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#212529" role="img" '
            'aria-label="Rates of building, finding and missing, Heddle beside others">')
    return "\n".join([head, f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>', *out, "</svg>", ""])


def main():
    cpu, sizes = cpu_rates()
    gpu = gpu_rates()
    readme = README.read_text()
    before, rest = readme.split("<!-- rates -->\n")
    after = rest.split("<!-- end -->\n")[1]
    wanted = f"{before}<!-- rates -->\n{table(cpu, sizes, gpu)}<!-- end -->\n{after}"
    drawn = picture(cpu, gpu)
    if "--check" in sys.argv[1:]:
        wrong = [str(p.relative_to(ROOT)) for p, words in ((README, wanted), (PICTURE, drawn)) if p.read_text() != words]
        if wrong:
            print(f"not what bench/results says: {', '.join(wrong)}; run scripts/readme_figure.py")
        return 1 if wrong else 0
    README.write_text(wanted)
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn)
    return 0


if __name__ == "__main__":
    sys.exit(main())
