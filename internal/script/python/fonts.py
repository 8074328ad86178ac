"""How matplotlib finds fonts without starting a program."""


def fonts_spec(name, path):
    """Returns the spec of a module that asks the program fc-list for fonts when it is imported.
    It does without, as on a host that has no such program; otherwise the attempt to start it
    would be reported as the guest's."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(name, path)
    if spec is None or spec.loader is None:
        return spec
    execute = spec.loader.exec_module

    def execute_without_programs(module):
        import subprocess

        check_output, subprocess.check_output = subprocess.check_output, no_such_program
        try:
            execute(module)
        finally:
            subprocess.check_output = check_output

    spec.loader.exec_module = execute_without_programs
    return spec


def no_such_program(*command, **options):
    raise FileNotFoundError(2, "No such file or directory")
