"""Options and what they stand for: parameters of the estimators, in both directions.

What was given becomes `Choices`; what the library says about its parameters is put in the words of the command.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nearhit
from nearhit.command.messages import Refusal

METHODS: dict[str, Any] = {
    "relieff": nearhit.ReliefF,
    "rrelieff": nearhit.RReliefF,
    "relief": nearhit.Relief,
    "surf": nearhit.SURF,
    "surf*": nearhit.SURFStar,
    "multisurf": nearhit.MultiSURF,
    "multisurf*": nearhit.MultiSURFStar,
    "swrf*": nearhit.SWRFStar,
    "multiswrf*": nearhit.MultiSWRFStar,
}
#: the others take both
TASK_OF = {"relieff": "classification", "rrelieff": "regression", "relief": "classification"}
TASKS = ("classification", "regression")

#: the option that sets each parameter of the estimators; messages of the library are put in these words
OPTION_OF = {
    "n_neighbors": "--neighbors",
    "misses": "--misses",
    "metric": "--metric",
    "diff": "--diff",
    "ramp": "--ramp",
    "scale": "--scale",
    "missing": "--missing",
    "weights": "--weights",
    "sigma": "--sigma",
    "n_targets": "--targets",
    "ties": "--ties",
    "categorical_features": "--categorical",
    "select": "--select",
    "redundancy": "--redundancy",
    "device": "--device",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "verbose": "--verbose",
    "p_values": "--p-values",
    "n_permutations": "--permutations",
}


@dataclass(frozen=True)
class Choices:
    """What the options say, checked as far as that goes without a table."""

    task: str | None
    method: str | None
    top: int | None
    parameters: dict[str, Any]


def make_choices(task: str | None, method: str | None, top: str, options: dict[str, Any]) -> Choices:
    """Check what does not depend on the table; parameters are only those given, as the estimators take them."""
    for option, value, allowed in (("--task", task, TASKS), ("--method", method, tuple(METHODS))):
        if value is not None and value not in allowed:
            raise Refusal(f"{option} must be one of {', '.join(allowed)}; got {value!r}.")
    if task and method and TASK_OF.get(method, task) != task:
        raise Refusal(f"--method {method} is for {TASK_OF[method]}, not for --task {task}; leave out one of them.")
    if top != "all" and not top.isdecimal():
        raise Refusal(f'--top must be a number of features or "all"; got {top!r}.')
    given = {name: value for name in OPTION_OF if (value := options.get(name)) is not None and value is not False}
    parameters = {name: CONVERSIONS.get(name, _unchanged)(value) for name, value in given.items()}
    return Choices(task, method, None if top == "all" or int(top) == 0 else int(top), parameters)


def _whole_or_text(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text  # the estimator knows the words, and what to say about the others


def _number_or_text(text: str) -> float | str:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _unchanged(value: Any) -> Any:
    return value


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "n_neighbors": _whole_or_text,
    "n_targets": _number_or_text,
    "select": _number_or_text,
    "scale": lambda text: None if text == "none" else text,
    "verbose": int,
}


def in_options(message: str) -> str:
    """A message of the library in the words of the command: `n_jobs=0` becomes `--jobs 0`."""

    def setting(found: re.Match[str]) -> str:
        value = found["quoted"] or found["bare"].lower()
        return f"{OPTION_OF[found['name']]} {value}"

    names = "|".join(OPTION_OF)
    # From outside, only the environment reaches what nearhit.set_config sets.
    call = r"\bnearhit\.set_config\(pair_memory=(\d+)\)( or NEARHIT_PAIR_MEMORY=\1)?"
    message = re.sub(call, r"the environment variable NEARHIT_PAIR_MEMORY=\1", message)
    message = re.sub(rf'\b(?P<name>{names})=(?:"(?P<quoted>[^"]*)"|(?P<bare>[\w.]*\w))', setting, message)
    distinct = "|".join(name for name in OPTION_OF if "_" in name)
    message = re.sub(rf"\b({distinct})\b|^({names})(?= must )", lambda found: OPTION_OF[found[0]], message)
    message = re.sub(r"\bsample_weight\b", "--weight-column", message)
    for not_from_here in (" or a function of the weights", " or a numpy.random.RandomState", "True, False or "):
        message = message.replace(not_from_here, "")
    return message.replace("must be None, ", "must be ")
