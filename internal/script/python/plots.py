"""What sessions know of matplotlib: it draws into memory, and plt.show() displays its figures
in the Result of the step.
"""
import sys

# The name of the backend, which is a module.
BACKEND = "cordon_plots"


def is_plot(value):
    module = sys.modules.get("matplotlib.figure")
    return module is not None and isinstance(value, module.Figure)


def picture_of(figure):
    from io import BytesIO

    picture = BytesIO()
    figure.savefig(picture, format="png", bbox_inches="tight")
    return picture.getvalue()


class BackendFinder:
    """Makes the backend when matplotlib imports it: Agg, with another show()."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != BACKEND:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, cls)

    @staticmethod
    def create_module(spec):
        return None  # the usual kind

    @staticmethod
    def exec_module(module):
        from matplotlib.backends import backend_agg

        module.__dict__.update((name, value) for name, value in vars(backend_agg).items() if name[:2] != "__")
        module.show = lambda *args, **named: show_plots()


def install_backend():
    """Makes matplotlib draw into memory."""
    sys.meta_path.append(BackendFinder)
    os = sys.modules.get("os")
    if os is not None:
        os.environ.setdefault("MPLBACKEND", "module://" + BACKEND)
    else:  # it takes this when it is imported
        import posix

        posix.environ.setdefault(b"MPLBACKEND", b"module://" + BACKEND.encode())


def show_plots():
    """Displays the open figures of pyplot, unless the step has done so, and closes them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or DISPLAYS is None:
        return
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        if not any(figure is shown for shown in DISPLAYS.plots):
            DISPLAYS.add(figure)
        pyplot.close(figure)
