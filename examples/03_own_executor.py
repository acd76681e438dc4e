"""An executor of one's own: workers are started by commands, such as `ssh node7 python3`.

All it has to say is how letters go to a worker and back. Limits of time and memory, killing, files
and lost workers are the affair of `RemoteExecutor` here and of `Station` on the worker.
"""

import os
import pickle
import shlex
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from automl_admm import plugin_api as api


@dataclass(frozen=True)
class CommandOptions:
    """Options of `command`."""

    command: str = shlex.quote(sys.executable)  # starts a Python where the worker is to be


class CommandTransport:
    """Letters are pickles: orders go to the input of a worker, answers come from its output."""

    cluster, remedy = "the group of workers", "Does the command start a Python with automl-admm?"

    def __init__(self, command, count):
        self.command, self.count, self.workers, self.jobs = command, count, {}, {}

    def open(self, brief, scratch, tell):
        """Start the workers, and tell of each when it is ready."""
        del scratch  # no file is needed here
        self.tell = tell
        for number in range(self.count):
            place = api.Place(f"{self.command} #{number}", at_once=1)
            start = [*shlex.split(self.command), str(Path(__file__).absolute()), "serve"]
            pipe = subprocess.PIPE
            worker = subprocess.Popen(start, stdin=pipe, stdout=pipe, start_new_session=True)
            listener = threading.Thread(target=self.listen, args=(place, worker.stdout))
            self.workers[place], self.jobs[place] = (worker, listener), {}
            listener.start()
            self.send(place, brief)

    def submit(self, place, job):
        """Send a job; its end is told by `listen`, or here if the worker is gone."""
        self.jobs[place][job.name] = job
        if not self.send(place, job):
            self.lose(place)

    def kill(self, place, job):
        """Send the name of a job to kill."""
        self.send(place, job.name)

    def check(self):
        """There is no coordinator that could be gone."""

    def close(self):
        """End the input of all workers, and wait until they are gone."""
        for worker, listener in self.workers.values():
            with suppress(BrokenPipeError):  # it is gone already
                worker.stdin.close()
            worker.wait()
            listener.join()
            worker.stdout.close()

    def send(self, place, letter):
        """Return True if a letter could be sent."""
        try:
            pickle.dump(letter, self.workers[place][0].stdin)
            self.workers[place][0].stdin.flush()
        except OSError:
            return False
        return True

    def listen(self, place, output):
        """Tell the letters of a worker; a thread of its own does it."""
        try:
            reason = api.explain_difference(api.installed_versions(), pickle.load(output))
            self.tell(api.Refused(place.name, reason) if reason else api.Joined(place))
            while True:
                name, answer = pickle.load(output)
                if self.jobs[place].pop(name, None):
                    self.tell(api.Ended(name, answer))
        except (EOFError, pickle.UnpicklingError):
            self.lose(place)

    def lose(self, place):
        """Tell that a worker is gone, and its jobs with it."""
        self.tell(api.Left(place))
        for name in list(self.jobs[place]):
            if job := self.jobs[place].pop(name, None):
                self.tell(api.Ended(name, api.Answer.lost(job.number, f"{place.name} was lost")))


def serve():
    """Be a worker until the input ends, as it does too if the run is killed."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed must not come between the answers
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        station = api.Station(pickle.load(sys.stdin.buffer), Path(folder, "station"), workers=1)
        station.start()
        lock = threading.Lock()

        def say(letter):
            with lock:
                pickle.dump(letter, answers)
                answers.flush()

        say(api.installed_versions())
        try:
            while letter := pickle.load(sys.stdin.buffer):
                if isinstance(letter, api.Job):
                    pool.submit(lambda job: say((job.name, station.run(job))), letter)
                else:
                    station.kill(letter)
        except EOFError:
            station.close()
            station.join()


def build(work, setting, options):
    """Build the executor: the transport is all that is ours."""
    transport = CommandTransport(options.command, setting.workers)
    return api.RemoteExecutor(work, setting, transport, api.Staffing(setting.workers, patience=120))


@api.hookimpl
def executors():
    """`command`: in a plugin, `--executor "command:command=ssh node7 python3"`."""
    yield api.ExecutorPlugin(
        name="command",
        summary="on workers started by a command",
        factory=build,
        options=CommandOptions,
    )


class Squares:
    """A work: each task calls a method of it, in a process of its own."""

    def square(self, folder, of):
        """Return a result fit for JSON; files written to `folder` could be kept."""
        del folder
        return {"square": of**2, "pid": os.getpid()}


def main():
    """Run two tasks on two workers."""
    executor = build(Squares(), api.ExecutorSetting(workers=2), CommandOptions())
    for number in (1, 2):
        executor.submit(api.Task(number, "square", {"of": number}, seconds=60.0))
    ended = [*executor.wait()]
    ended += [] if len(ended) == 2 else executor.wait()
    for finished in sorted(ended, key=lambda one: one.number):
        print(finished.number, finished.status, finished.result["square"])
    executor.close()


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main()
