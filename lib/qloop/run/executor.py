"""Where attempts run: anything with the interface of `concurrent.futures.Executor`.

Here: threads, each waiting for its agent's process. A distributed engine's executor fits in the
same place, since an attempt's order and outcome are values.
"""

from concurrent.futures import Executor, ThreadPoolExecutor


def local_executor(attempts: int) -> Executor:
    """Threads enough for *attempts* at once."""
    return ThreadPoolExecutor(max_workers=max(1, attempts), thread_name_prefix="attempt")
