"""What an orchestrator's agent asks and hands in: `orchestrator next` and `orchestrator done`."""

import os
from pathlib import Path

from qloop.run.handing_in import OVER, REFUSED, STORY, VERDICT, WAIT
from qloop.run.sitting_desk import MAILBOX
from qloop.system.errors import UsageWrong
from qloop.system.mailbox import Letter, ask
from qloop.ui import console

NOT_YET = 75


def show_next(wait_s: float | None) -> int:
    """The next story on standard output; 1 where there is none, 75 where it is not known yet."""
    answer = _ask({"verb": "next"}, wait_s)
    if answer["state"] == STORY:
        verdict = answer["verdict"]
        console.result(console.printable(f"{verdict}\n\n{answer['text']}".strip()))
        return 0
    return _other(answer)


def hand_in(story: str | None, signal: str, why: str, wait_s: float | None) -> int:
    """The verdict on standard output; 0 where the story landed, 75 where there is none yet."""
    question = {"verb": "done", "story": story, "signal": signal, "why": why}
    answer = _ask(question, wait_s)
    if answer["state"] == VERDICT:
        console.result(console.printable(answer["text"]))
        return 0 if answer["landed"] else 1
    return _other(answer)


def _ask(question: Letter, wait_s: float | None) -> Letter:
    folder = os.environ.get(MAILBOX)
    if not folder:
        raise UsageWrong(
            "there is no orchestrator that this process works for",
            where=MAILBOX,
            fix="it is for the agent of `qloop run --legacy-orchestrator`",
        )
    while True:
        answer = ask(Path(folder), {**question, "wait_s": wait_s}, wait_s)
        if answer is None or (answer["state"] == WAIT and wait_s is not None):
            return {"state": WAIT}
        if answer["state"] != WAIT:
            return answer


def _other(answer: Letter) -> int:
    state = answer["state"]
    if state == REFUSED:
        raise UsageWrong(str(answer["text"]), fix="ask with `qloop orchestrator next`")
    if state == OVER:
        console.say("there is no other story")
        return 1
    console.say("not decided yet: ask again with `qloop orchestrator next`")
    return NOT_YET
