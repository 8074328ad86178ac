# attack: fill the kernel's memory with empty files
# class: 7
# walls: mount cgroup
# gvisor: files in the memory of the sandbox, which has a limit
# needs: scratch
# limits: scratch=16MiB wall_time=8s cpu_time=8s
# expect: held outcome:out_of_memory outcome:out_of_cpu outcome:timed_out
# naked: no it leaves many files behind on a real disk

# An empty file takes no page of the tmpfs but a kilobyte of kernel memory: the size
# alone does not bound them.
def attempt():
    here, made = scratch(), 0
    root = os.open(here, os.O_RDONLY | os.O_DIRECTORY)
    while made < 50000:
        os.close(os.open("%x" % made, os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=root))
        made += 1
    return "made %d files" % made

result = judged(attempt)
