"""An event loop that only waits for time: on WebAssembly there is no socket or thread to
wait for."""
import time

STUCK = (
    "all coroutines wait, and nothing can wake one: "
    "the wasm tier has no network and no threads to wait for"
)


class Sleeper:
    """Replaces the selector of an event loop."""

    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError(STUCK)  # instead of waiting for the time limit
        if timeout > 0:
            time.sleep(timeout)
        return ()


def patch_asyncio(asyncio):
    class SleepingEventLoop(asyncio.BaseEventLoop):
        def __init__(self):
            super().__init__()
            self._selector = Sleeper()

        def _process_events(self, events):
            """Does nothing: there are no events."""

        def _write_to_self(self):
            """Does nothing: there is no other thread that could wake the loop."""

        def run_in_executor(self, executor, function, *args):
            """Calls the function when the coroutines that are ready have had their turn. An
            executor is refused, because it would start threads."""
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

        # A server without a socket would wait forever.
        create_server = create_datagram_endpoint = create_unix_connection = create_unix_server = create_connection

        async def subprocess_exec(self, *args, **kwargs):
            raise no_programs()

        subprocess_shell = subprocess_exec

        # Other platforms that cannot do this raise the same exception.
        add_signal_handler = remove_signal_handler = refuses(lambda: NotImplementedError(NO_SIGNALS))
        add_reader = add_writer = refuses(lambda: NotImplementedError(NO_NETWORK))

    for module in asyncio, asyncio.unix_events:
        for name in "SelectorEventLoop", "EventLoop":  # the latter since 3.13
            if hasattr(module, name):
                setattr(module, name, SleepingEventLoop)
    asyncio.unix_events._UnixDefaultEventLoopPolicy._loop_factory = SleepingEventLoop
