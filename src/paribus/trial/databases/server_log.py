"""Addition of a server's log to the error of a load that lost it.

In: the load's error, and the last messages of the server. Out: the error that names the server's own reason, and
what to do about it.
"""

import errno
import os
from collections.abc import Callable

from paribus.errors import EngineError

FREE_SPACE = "free space where the server has its data"
_MAY_END_A_SERVER = ("connection-lost", "load-error")


def with_server_log(error: EngineError, last_words: Callable[[], str]) -> EngineError:
    """The error with the server's last messages; unchanged where the server still runs.

    `last_words` is asked only after errors that a server which ended can cause.
    """
    log = last_words() if error.failure in _MAY_END_A_SERVER else ""
    if not log:
        return error
    fix = FREE_SPACE if os.strerror(errno.ENOSPC) in log else "remove the cause that it names"
    return EngineError(error.failure, f"{error.message}; it ended: {log}", fix)
