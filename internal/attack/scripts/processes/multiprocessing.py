# attack: start workers with multiprocessing and concurrent.futures
# class: 17
# walls: seccomp
# limits: wall_time=5s

import multiprocessing, concurrent.futures

def attempt():
    def process():
        child = multiprocessing.get_context("fork").Process(target=os._exit, args=(7,))
        child.start()
        child.join()
        return child.exitcode == 7 and "a worker ran"
    def pool():
        with concurrent.futures.ProcessPoolExecutor(1) as workers:
            return "a pool's worker is %d" % workers.submit(os.getpid).result(3)
    return any_of(process, pool)

result = judged(attempt, ImportError, RuntimeError, concurrent.futures.TimeoutError, NotImplementedError)
