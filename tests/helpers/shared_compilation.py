"""Files of tests are compiled once for all workers of a run, each of which would compile all.

Workers collect the same files at the same time, and in a new clone none is compiled yet: to
rewrite the assertions of all takes each of them some ten seconds.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path

import pytest
from _pytest.assertion import rewrite


def compile_share(config: pytest.Config) -> None:
    """Compile every n-th file in each of n workers, where none is compiled yet."""
    worker = getattr(config, "workerinput", None)
    if worker is not None and not sys.dont_write_bytecode:
        number, workers = int(worker["workerid"].removeprefix("gw")), int(worker["workercount"])
        compile_files(files_of(config.args)[number::workers])


def files_of(arguments: list[str]) -> list[Path]:
    """Return the files of tests in the folders among the arguments of pytest.

    They are named as pytest names them, or warnings would come from files of other names.
    """
    places = [place.absolute() for place in map(Path, arguments) if place.is_dir()]
    return sorted({path for place in places for path in place.rglob("test_*.py")})


def compile_files(files: list[Path]) -> None:
    """Compile files with pytest's assertions, and run none of them."""
    hooks = [one for one in sys.meta_path if isinstance(one, rewrite.AssertionRewritingHook)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewrite, "exec", lambda *given: None, raising=False)
        for path in files:
            if not (rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}").exists():
                for hook in hooks:
                    module = module_from_spec(ModuleSpec(path.stem, hook, origin=str(path)))
                    with suppress(SyntaxError, OSError):  # told where the file is collected
                        hook.exec_module(module)
