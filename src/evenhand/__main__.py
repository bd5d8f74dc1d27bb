"""`python -m evenhand`, and what the command `evenhand` runs."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being loaded ends it with one line, too."""
    try:
        from evenhand.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("evenhand: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    # Python puts the current folder first, where a file called like a library would be taken for it.
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not sys.flags.safe_path and sys.path[:1] in ([""], [os.getcwd()]) and own != os.getcwd():
        del sys.path[0]
    main()
