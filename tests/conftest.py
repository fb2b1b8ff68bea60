"""What all tests share: where the oracles are, and hypothesis without deadlines on a busy machine."""

import csv
import json
import os
from pathlib import Path

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before scipy: or scikit-learn skips one of its checks

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(os.environ.get("NEARHIT_SHARED", Path(__file__).parents[2] / "shared"))
SMALL = bool(os.environ.get("NEARHIT_TEST_SMALL"))  # the sanitizer build is slow: fewer examples of the same kind

settings.register_profile(
    "nearhit",
    deadline=None,
    max_examples=25 if SMALL else 120,
    derandomize=True,  # the same examples on every machine; a longer hunt: HYPOTHESIS_PROFILE=hunt
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    print_blob=True,
)
settings.register_profile("hunt", settings.get_profile("nearhit"), derandomize=False, max_examples=3000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "nearhit"))


@pytest.fixture(scope="session")
def shared():
    """The folder of oracles and data beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip(f"no oracles: {SHARED} is absent (set NEARHIT_SHARED)")
    return SHARED


@pytest.fixture(scope="session")
def oracle_table(shared):
    """Read a CSV of the oracles: object columns X (strings and numbers apart by name), y, names."""

    def read(name):
        with open(shared / "oracles" / name) as file:
            names, *rows = list(csv.reader(file))
        nominal = [column.endswith("_nom") for column in names[:-1]]
        X = np.empty((len(rows), len(names) - 1), object)
        for j, is_nominal in enumerate(nominal):
            for i, row in enumerate(rows):
                X[i, j] = None if row[j] == "" else row[j] if is_nominal else float(row[j])
        y = np.array([row[-1] for row in rows])
        return X, (y.astype(float) if names[-1] == "target" else y), names[:-1]

    return read


@pytest.fixture(scope="session")
def peer(shared):
    """Weights that another program computed: peer("weka", "iris.csv", "ReliefF...", K=10) -> array."""

    def find(program, data, estimator, names, **params):
        results = json.loads((shared / "oracles" / f"{program}.json").read_text())["results"]
        for result in results:
            if result["data"] != data or result["estimator"] != estimator:
                continue
            if all(result["params"].get(key) == value for key, value in params.items()):
                return np.array([result["weights"][name] for name in names])
        raise LookupError((program, data, estimator, params))

    return find


@pytest.fixture
def own_settings(monkeypatch):
    monkeypatch.setattr("nearhit.settings._settings", {})
    monkeypatch.delenv("NEARHIT_PAIR_MEMORY", raising=False)
