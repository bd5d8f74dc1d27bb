"""`python -m evenhand`, and what the command `evenhand` runs."""

from __future__ import annotations

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
    main()
