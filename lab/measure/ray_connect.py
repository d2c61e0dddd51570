"""Joining a Ray cluster. It is tried in a process of its own first: Ray itself tries for minutes, deaf to Ctrl-C."""

from __future__ import annotations

import importlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from lab.errors import Fault, OutsideFailureError, fault
from lab.measure.interrupts import Interrupts

_TRY: Final = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
except Exception as error:
    print(error)
    sys.exit(1)
"""
_ANSWER_S: Final = 10.0
_TRY_S: Final = 20.0  # a first import of Ray from a slow disk, and the cluster's answer
_LOOK_S: Final = 0.1
_VERSIONS: Final = re.compile(r"Ray: (\S+)\s+Python: (\S+)")  # the cluster's, then this process's (Ray 2.60)


@contextmanager
def joined(ray: Any, address: str | None, interrupts: Interrupts) -> Iterator[None]:  # noqa: ANN401  (the module itself)
    """Be part of the cluster while the `with` block runs; signals stay with the run, which Ray would take over.

    Args:
        ray: the module, imported by whoever calls; a program that has joined a cluster already stays there.
        address: of the head; None: the cluster that Ray finds by itself.
        interrupts: asked while the cluster is waited for.

    Raises:
        OutsideFailureError: nobody answers there, no Ray cluster does, or one of another Ray or Python.
        KeyboardInterrupt: a person stopped the run.
    """
    with _unheard():
        if ray.is_initialized():
            yield
            return
        _connect(ray, address, interrupts)
        try:
            yield
        finally:
            ray.shutdown()


@contextmanager
def _unheard() -> Iterator[None]:
    """Keep off this program's own output what a lost node logged last: Ray 2.60 prints it there, told to or not."""
    inner = importlib.import_module("ray._private.worker")
    name = "print_to_stdstream"
    before = getattr(inner, name, None)
    if before is None:  # another release, which may do it otherwise
        yield
        return
    setattr(inner, name, lambda *_data, **_named: None)
    try:
        yield
    finally:
        setattr(inner, name, before)


def _connect(ray: Any, address: str | None, interrupts: Interrupts) -> None:  # noqa: ANN401  (the module itself)
    shown = address or "auto"
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM) if main else None
    try:
        if address is not None:
            host, _, port = address.rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), _ANSWER_S).close()
        if (said := _tried(shown, interrupts)) is not None:
            raise OutsideFailureError(_fault(said, shown))
        ray.init(address=shown, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError, OverflowError, OSError) as error:
        raise OutsideFailureError(_fault(str(error), shown)) from error
    finally:
        if main:
            signal.signal(signal.SIGTERM, before)


def _tried(address: str, interrupts: Interrupts) -> str | None:
    """What Ray says against joining, empty when it says nothing in time; None when it joined."""
    command = [sys.executable, "-P", "-c", _TRY, address]
    until = time.monotonic() + _TRY_S
    with subprocess.Popen(  # noqa: S603  (our own lines in our own interpreter)
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as child:
        try:
            while child.poll() is None:
                interrupts.raise_if_asked()
                if time.monotonic() > until:
                    return ""
                time.sleep(_LOOK_S)
            said = child.stdout.read() if child.stdout else ""
        finally:
            child.kill()
    return None if child.returncode == 0 else said


def _fault(said: str, address: str) -> Fault:
    found = _VERSIONS.findall(said)
    if len(found) == 2:  # noqa: PLR2004  (two sides)
        (ray, python), (own_ray, own_python) = found
        return fault("ray-other-versions", ray=ray, python=python, own_ray=own_ray, own_python=own_python)
    return fault("ray-unreachable", address=address)
