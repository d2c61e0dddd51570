"""The commands of `lab`: a new one is a function in a file of this folder and one line in this tuple."""

from lab.commands import exchanging, measuring, renting, reporting
from lab.commands.base import Command

COMMANDS: tuple[Command, ...] = (
    measuring.demo,
    measuring.init,
    measuring.check,
    measuring.seal,
    measuring.amend,
    measuring.run,
    measuring.status,
    measuring.judge,
    exchanging.sync,
    exchanging.merge,
    exchanging.bring_in,
    exchanging.export,
    reporting.report,
    reporting.verify,
    reporting.bundle,
    reporting.kit,
    renting.price,
    renting.window,
    reporting.site,
)
