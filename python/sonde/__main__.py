"""`python -m sonde ARGS` runs the sonde program."""

from ._program import main

raise SystemExit(main())
