"""Find components whose `trusted_types` are wrong or too few, before a search, in a child process.

Components of others are nobody's but theirs: one may hang or crash when it is imported or built. So
this process neither imports nor builds them, and what is not found in time is told when a model is
saved. Those without a fault are remembered, until some distribution or a file of a plugin changes:
the child needs seconds, as long as a short search.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.space import Choice, Parameter, SearchSpace
from automl_admm.core.structure.pipeline_space import all_modules
from automl_admm.execution.skops_import import import_skops
from automl_admm.grammar.compile import CompiledGrammar
from automl_admm.plugins.fingerprints import fingerprint, fingerprint_installed
from automl_admm.plugins.loading import discover, is_of_others, load_plugins
from automl_admm.plugins.records import FEW_LEVELS, BuildContext, ComponentPlugin, LearningTask
from automl_admm.plugins.registry import HERE, Registry
from automl_admm.plugins.remembered import Remembered
from automl_admm.search.starts import default_start

MOST_SECONDS = 20.0
SHARE_OF_BUDGET = 0.1
COLUMNS = ("a", "b")
REMEMBERED = "trusted-types.json"
FINE = ""
PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    f"from {__name__} import print_untrusted; print_untrusted(*json.loads(sys.argv[2]))"
)

logger = logging.getLogger(__name__)


def check_saved_types(
    components: Registry[ComponentPlugin],
    grammar: CompiledGrammar,
    task: LearningTask,
    budget: float | None,
) -> None:
    """Raise for components whose saved models no process could load, and warn of untrusted ones."""
    refuse_homeless(components, grammar, task)
    tell_untrusted(components, grammar, task, budget)


def tell_untrusted(
    components: Registry[ComponentPlugin],
    grammar: CompiledGrammar,
    task: LearningTask,
    budget: float | None,
) -> None:
    """Warn of the components of a grammar whose models `predict` will refuse to load."""
    names = sorted({module.component for module in all_modules(grammar.pipelines.shape)})
    # What this process alone has, no child can find.
    foreign = [name for name in names if is_of_others(components.provider(name))]
    seconds = MOST_SECONDS if budget is None else min(MOST_SECONDS, SHARE_OF_BUDGET * budget)
    for name, faults in _find_faults(task, foreign, seconds).items():
        told = "%s: its trusted_types %s: `automl-admm predict` would refuse a model with it. %s"
        cure = "Write them in its ComponentPlugin as 'package.module.Class'."
        logger.warning(told, components.title(name), faults, cure)


def refuse_homeless(
    components: Registry[ComponentPlugin], grammar: CompiledGrammar, task: LearningTask
) -> None:
    """Raise if a component of this process makes objects of a class that no module has.

    Such a model cannot be loaded from a run folder. It is the user's own code, so it is built here.
    """
    for name in sorted({module.component for module in all_modules(grammar.pipelines.shape)}):
        if components.provider(name) != HERE:
            continue
        kind: type[Any] = type(None)
        with suppress(Exception):  # its evaluations tell why it cannot be built
            kind = type(_built(components.get(name), task))
        if kind.__module__ == "__main__" or "<locals>" in kind.__qualname__:
            raise ConfigurationError(
                f"component '{name}' makes objects of {kind.__module__}.{kind.__qualname__}, which "
                "no other process can load from a run folder.",
                hint=Remedy(
                    "Move the class into a module, a file beside your notebook, or leave out "
                    "{work_dir}."
                ),
            )


def _find_faults(task: LearningTask, names: list[str], seconds: float) -> dict[str, str]:
    """Return the faults of components that have some; only those not known to be fine are built."""
    if not names:
        return {}
    remembered, state = Remembered.of(REMEMBERED), _state_of_plugins()
    fine, keys = remembered.read(), {name: f"{state} {task} {name}" for name in names}
    found = _find_apart(task, [name for name in names if keys[name] not in fine], seconds)
    new = {keys[name]: faults for name, faults in found.items() if faults == FINE}
    if new:
        remembered.write(fine | new)
    return {name: faults for name, faults in found.items() if faults}


def _state_of_plugins() -> str:
    """Return a text that changes with every file of a plugin, and with every other distribution."""
    digest = hashlib.sha256(fingerprint_installed().encode())
    for one in discover():
        if not one.builtin:
            known = fingerprint(one.name, one.provider, one.module, one.distribution)
            digest.update(known.encode())
    return digest.hexdigest()[:32]


def _find_apart(task: LearningTask, names: list[str], seconds: float) -> dict[str, str | None]:
    """Return what a child found of each component in time: its faults, if it could be built."""
    if not names:
        return {}
    path = [entry or str(Path.cwd()) for entry in map(str, sys.path)]
    command = [sys.executable, "-P", "-c", PROGRAM, json.dumps(path), json.dumps([task, names])]
    with suppress(subprocess.SubprocessError, OSError, ValueError, LookupError, AttributeError):
        said = json.loads(_last_line(command, seconds)).items()
        return {str(name): None if faults is None else str(faults) for name, faults in said}
    return {}


def _last_line(command: list[str], seconds: float) -> bytes:
    """Return what a program says last; what it started, and it itself, does not outlive this."""
    with subprocess.Popen(  # noqa: S603 - this interpreter, our own program
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as child:
        try:
            return child.communicate(timeout=seconds)[0].splitlines()[-1]
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)


def print_untrusted(task: LearningTask, names: Sequence[str]) -> None:
    """Print what is wrong as the last line, after whatever components print."""
    components = load_plugins(quietly=True).components[task]
    trusted = frozenset(one for record in components for one in record.trusted_types)
    known = [components.get(name) for name in names if name in components]
    found = {record.name: _say_faults(record, task, trusted) for record in known}
    sys.stdout.write("\n" + json.dumps(found))


def _say_faults(record: ComponentPlugin, task: LearningTask, trusted: frozenset[str]) -> str | None:
    """Return the faults in words; None if there is none so far, and it cannot be built."""
    absent = [name for name in record.trusted_types if not _is_there(name)]
    faults = [f"name {', '.join(absent)}, which cannot be imported"] if absent else []
    try:
        skops = import_skops()
        missing = set(skops.get_untrusted_types(data=skops.dumps(_built(record, task)))) - trusted
    except Exception:  # noqa: BLE001 - its evaluations tell why it cannot be built
        return " and ".join(faults) or None
    if missing:
        faults.append(f"lack {', '.join(sorted(missing))}")
    return " and ".join(faults)


def _is_there(name: str) -> bool:
    """Tell whether a dotted name leads to something, in a module or in a class of one."""
    module, _, inner = name.rpartition(".")
    try:
        return hasattr(import_module(module), inner)
    except ImportError:
        outer, _, holder = module.rpartition(".")
        with suppress(ImportError, ValueError):
            return hasattr(getattr(import_module(outer), holder, None), inner)
    except Exception:  # noqa: BLE001 - a module is anybody's code
        return False
    return False


def _built(record: ComponentPlugin, task: LearningTask) -> object:
    """Build a component with its defaults; it is not fitted."""
    choices = tuple(one for one in record.parameters if isinstance(one, Choice))
    numbers = tuple(one for one in record.parameters if isinstance(one, Parameter))
    space = SearchSpace(decisions=choices, parameters=numbers)
    values: dict[str, Any] = space.values(default_start(space))
    known = BuildContext(
        task,
        COLUMNS,
        COLUMNS if record.needs & {"categorical", "many_levels"} else (),
        text=COLUMNS if "text" in record.needs else (),
        tags=COLUMNS if "tags" in record.needs else (),
        levels=(FEW_LEVELS + 1, FEW_LEVELS + 1) if "many_levels" in record.needs else (),
    )
    return record.factory(values, known)
