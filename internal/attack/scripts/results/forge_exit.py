# attack: report success and exit with a code that says otherwise
# class: 14
# walls: environment pid seccomp
# expect: outcome:exited outcome:raised outcome:signaled
# naked: no the harness has no exit code to judge

result = {"escaped": True, "detail": "a failed run was reported as a success"}
os._exit(3)
