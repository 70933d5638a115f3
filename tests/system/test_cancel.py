"""A flag that can be polled."""

import os
import select
import signal
import threading

from qloop.system.cancel import Cancel


def is_readable(cancel: Cancel) -> bool:
    """Whether a poll for reading returns at once."""
    return bool(select.select([cancel], [], [], 0)[0])


def test_it_is_readable_once_set_and_stays_so() -> None:
    """A waiter sees the flag at any time after it was set."""
    cancel = Cancel()
    before = is_readable(cancel), cancel.is_set, cancel.reason

    cancel.set("enough")

    assert before == (False, False, None)
    assert is_readable(cancel)
    assert is_readable(cancel)
    assert (cancel.is_set, cancel.reason) == (True, "enough")
    cancel.close()


def test_the_first_reason_stays() -> None:
    """Setting it again changes nothing."""
    cancel = Cancel()

    cancel.set("first")
    cancel.set("second")

    assert cancel.reason == "first"
    cancel.close()


def test_many_threads_set_it_once() -> None:
    """However many set it at the same time, one reason is kept and all waiters wake."""
    cancel = Cancel()
    woken: list[bool] = []
    waiters = [
        threading.Thread(target=lambda: woken.append(bool(select.select([cancel], [], [])[0])))
        for _ in range(4)
    ]
    setters = [threading.Thread(target=cancel.set, args=(str(n),)) for n in range(16)]
    for thread in (*waiters, *setters):
        thread.start()
    for thread in (*waiters, *setters):
        thread.join()

    assert woken == [True] * 4
    assert cancel.reason in {str(n) for n in range(16)}
    cancel.close()


def test_a_signal_handler_may_set_it() -> None:
    """It takes no lock that the interrupted thread could hold."""
    cancel = Cancel()
    before = signal.signal(signal.SIGUSR1, lambda *_: cancel.set("signal"))
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)

    assert cancel.reason == "signal"
    cancel.close()


def test_close_gives_the_descriptors_back() -> None:
    """Both ends are closed, whether or not it was set."""
    for is_set in (False, True):
        probe = os.open("/dev/null", os.O_RDONLY)
        os.close(probe)
        cancel = Cancel()
        if is_set:
            cancel.set("done")
        cancel.close()
        again = os.open("/dev/null", os.O_RDONLY)
        os.close(again)

        assert again == probe
