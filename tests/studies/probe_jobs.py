"""Jobs that misbehave on purpose, for the tests of the worker process."""

import os
import sys
import time


def echo(home, arguments, control):
    return {**arguments, "saved": ("run",)}


def noisy(home, arguments, control):
    sys.stdout.write("a library chats\n")
    os.write(1, b"so does its C part\n")
    return {"ok": True}


def slow(home, arguments, control):
    control.begin(arguments["steps"], unit="steps", phase="slow")
    for _ in range(arguments["steps"]):
        control.check()
        time.sleep(arguments["pause"])
        control.step()
    return {}


def stuck(home, arguments, control):
    time.sleep(600)
    return {}


def bug(home, arguments, control):
    return {"x": 1 / 0}


def die(home, arguments, control):
    sys.stderr.write("last words\n")
    sys.stderr.flush()
    os._exit(7)


def policy(home, arguments, control):
    return {"policy": os.environ["OMP_WAIT_POLICY"]}
