"""The components that the grammar of a run may import."""

from __future__ import annotations

from collections.abc import Collection

from automl_admm.plugins.loading import Plugins
from automl_admm.plugins.records import TASKS, ComponentPlugin, LearningTask
from automl_admm.plugins.registry import Registry


def components_for(
    task: LearningTask, plugins: Plugins, held: Collection[str]
) -> tuple[Registry[ComponentPlugin], frozenset[str], frozenset[str]]:
    """Return the components of a task, the names of those of other tasks, and those held back.

    Held back are components that are installed by now, but that the run began without.
    """
    components = plugins.components[task]
    back = frozenset(r.name for r in components if r.name in held and not r.missing)
    components = components.without(back)
    everywhere = {record.name for each in TASKS for record in plugins.components[each]} - back
    elsewhere = frozenset(everywhere - {record.name for record in components})
    return components, elsewhere, back
