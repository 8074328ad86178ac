# attack: overwrite all of memory, from the end to the start, with code that uses numbers as objects
# class: 13
# walls: pid seccomp uid rlimit
# needs: memory
# limits: wall_time=5s
# expect: held outcome:signaled outcome:timed_out outcome:out_of_cpu outcome:raised outcome:out_of_memory outcome:invalid_output outcome:exited
# naked: no a crash affects only the script

# First far beyond the end, which no guest may reach.
area = view((1 << 8 * struct.calcsize("P") - 1) - (1 << 20), 1 << 20)
area[0] = 0x41
area[(1 << 20) - 1] = 0x41
result = {"escaped": sys.platform == "wasi", "detail": "wrote beyond the end of memory"}
# --- next run ---
# Then the guest's own memory, which soon ends the guest.
start = 1024 if sys.platform == "wasi" else id(os) & ~0xFFFFF
area = view(start, 1 << 30)
for at in range(0, 1 << 30, 64):
    area[at] = 0x41
result = {"escaped": False, "detail": "wrote over itself"}
# --- next run ---
result = {"escaped": sum(range(10)) != 45, "detail": "the next one finds all in order"}
