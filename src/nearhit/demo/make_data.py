"""Makes epistasis.csv: 200 cases and 200 controls, 50 genotypes, two of which matter, and only together.

A genotype is the number of copies of an allele that a person has from two draws (Hardy-Weinberg). The risk of disease
depends on snp17 and snp41:

                 snp41 = 0     1     2
    snp17 = 0         0.15  0.85  0.15
            1         0.85  0.15  0.85
            2         0.15  0.85  0.15

The allele has the frequency 1/2 in these two, so 0, 1 and 2 come with probability 1/4, 1/2, 1/4, and every row and
column of the table has the mean risk 1/2: in the population neither genotype tells anything alone.

Run ``python -m nearhit.demo.make_data`` to write the file again, and epistasis.json, which says of it that the digits
are names of categories.
"""

from __future__ import annotations

import json
import random

from nearhit.demo import FILE, TARGET

PAIR = ("snp17", "snp41")
NAMES = [f"snp{i}" for i in range(1, 51)]
PEOPLE_OF_A_KIND = 200
RISK_IF_ONE_IS_1, RISK_OTHERWISE = 0.85, 0.15
SEED = 1994


def main() -> None:
    FILE.write_text(table(), encoding="ascii")
    FILE.with_suffix(".json").write_text(sidecar(), encoding="ascii")


def table() -> str:
    lines = [",".join([*NAMES, TARGET]), *(",".join([*map(str, counts), status]) for counts, status in draw_people())]
    return "\n".join(lines) + "\n"


def sidecar() -> str:
    return json.dumps({"nominal": NAMES, "target": TARGET, "task": "classification"}) + "\n"


def draw_people() -> list[tuple[list[int], str]]:
    """People as they come, until there are enough cases and enough controls."""
    rng = random.Random(SEED)  # its stream is the same in all versions of Python
    frequency = {name: 0.5 if name in PAIR else rng.uniform(0.1, 0.5) for name in NAMES}
    missing = {"case": PEOPLE_OF_A_KIND, "control": PEOPLE_OF_A_KIND}
    people = []
    while any(missing.values()):
        counts = {name: draw_genotype(rng, frequency[name]) for name in NAMES}
        one_is_1 = (counts[PAIR[0]] == 1) != (counts[PAIR[1]] == 1)
        status = "case" if rng.random() < (RISK_IF_ONE_IS_1 if one_is_1 else RISK_OTHERWISE) else "control"
        if missing[status]:
            missing[status] -= 1
            people.append((list(counts.values()), status))
    return people


def draw_genotype(rng: random.Random, frequency: float) -> int:
    return sum(rng.random() < frequency for _ in range(2))


if __name__ == "__main__":
    main()
