"""`python -m evenhand`, and what the command `evenhand` runs."""

from __future__ import annotations

import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

IMPORTING = "<frozen importlib._bootstrap>"
AGAIN, PATIENCE = 0.02, 2.0
"""Seconds after which an interruption tries again to end the command, and for which it waits for what is loaded."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, or a polite kill.

    A class of its own: Python itself ends as if killed after a KeyboardInterrupt that came while a class was made.
    """


class _Ending:
    """Ends the command at a signal, but not while a module is loaded; knows the exit code then.

    Libraries that are interrupted while they are loaded print tracebacks, or go on without a part of them.
    """

    def __init__(self) -> None:
        self.code, self.since = 0, 0.0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        alarm = getattr(signal, "SIGALRM", None)
        if number != alarm:
            self.code, self.since = 128 + number, time.monotonic()
        if alarm and _importing(frame) and time.monotonic() < self.since + PATIENCE:
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
            return
        raise Interrupted


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == IMPORTING:
            return True
        frame = frame.f_back
    return False


def _listen(ending: _Ending) -> None:
    """End in order at Ctrl-C and at a polite kill, unless whoever started us wants them ignored."""
    for name, usual in (("SIGINT", signal.default_int_handler), ("SIGTERM", signal.SIG_DFL)):
        number = getattr(signal, name)
        if signal.getsignal(number) is usual:
            signal.signal(number, ending)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, ending)


def main() -> None:
    """Run the command line; Ctrl-C while it is still being loaded ends it with one line, too."""
    ending = _Ending()
    try:
        _listen(ending)
        from evenhand.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("evenhand: interrupted\n")
        sys.exit(ending.code or 130)
    finally:  # all is written: nothing is left to be interrupted
        for name, last in (("SIGINT", signal.SIG_IGN), ("SIGALRM", signal.SIG_IGN), ("SIGTERM", signal.SIG_DFL)):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), last)


if __name__ == "__main__":
    # Python puts the current folder first, where a file called like a library would be taken for it.
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not sys.flags.safe_path and sys.path[:1] in ([""], [os.getcwd()]) and own != os.getcwd():
        del sys.path[0]
    main()
