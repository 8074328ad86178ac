# attack: find the host's variables in os.environ
# class: 10
# walls: environment

# Names that cordon itself gives to each guest.
BUILT = {"LANG", "LC_ALL", "LC_CTYPE", "HOME", "TMPDIR", "PATH", "TZ", "USER", "LOGNAME", "TERM", "PWD", "SHLVL", "_",
         "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"}

def attempt():
    if context["env_name"] in os.environ:
        return "the host's variable says " + os.environ[context["env_name"]]
    foreign = (set(context["env_names"]) & set(os.environ)) - BUILT
    foreign = {n for n in foreign if not n.startswith("PYTHON")}
    return foreign and "has the host's " + " ".join(sorted(foreign))

result = judged(attempt)
