"""An event loop that waits for time alone: on WebAssembly no file and no socket can
be waited for, and no thread comes back with a result."""
import time

STUCK = (
    "every coroutine waits, and nothing is left that could wake one: "
    "on the wasm tier there is no network and no thread to wait for"
)


class Sleeper:
    """Stands where event loops have a selector."""

    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError(STUCK)  # rather than to wait until time is up
        if timeout > 0:
            time.sleep(timeout)
        return ()


def mend_asyncio(asyncio):
    class SleepingEventLoop(asyncio.BaseEventLoop):
        def __init__(self):
            super().__init__()
            self._selector = Sleeper()

        def _process_events(self, events):
            """There are none."""

        def _write_to_self(self):
            """Nobody is elsewhere who would have to wake us."""

        def run_in_executor(self, executor, function, *args):
            """Without an executor, which would start threads: calls the function when
            the coroutines that are ready have had their turn."""
            if executor is not None:
                return super().run_in_executor(executor, function, *args)
            self._check_closed()
            future = self.create_future()

            def call():
                if future.cancelled():
                    return
                try:
                    future.set_result(function(*args))
                except (SystemExit, KeyboardInterrupt):
                    raise
                except BaseException as error:
                    future.set_exception(error)

            self.call_soon(call)
            return future

        async def create_connection(self, *args, **kwargs):
            raise no_network()

        # A server without a socket would wait for ever, and say nothing.
        create_server = create_datagram_endpoint = create_unix_connection = create_unix_server = create_connection

        async def subprocess_exec(self, *args, **kwargs):
            raise no_programs()

        subprocess_shell = subprocess_exec

        # The kind of error is that of other platforms which cannot do it.
        add_signal_handler = remove_signal_handler = refuses(lambda: NotImplementedError(NO_SIGNALS))
        add_reader = add_writer = refuses(lambda: NotImplementedError(NO_NETWORK))

    for module in asyncio, asyncio.unix_events:
        for name in "SelectorEventLoop", "EventLoop":  # the latter since 3.13
            if hasattr(module, name):
                setattr(module, name, SleepingEventLoop)
    asyncio.unix_events._UnixDefaultEventLoopPolicy._loop_factory = SleepingEventLoop
