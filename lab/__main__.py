"""`python -m lab`: the same as the command `lab`."""

from lab.cli import entry

entry()
