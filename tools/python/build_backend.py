"""Builds a wheel of the package nibu with CMake: a build backend (PEP 517) of the standard library alone.

    pip install --no-build-isolation tools/python

The setting build-dir (pip's --config-settings=build-dir=FOLDER) names the build folder, which may be one that CMake
has configured already; build/python-CPYTHON is the default. A relative path counts from the root of the source tree.
"""

import base64
import hashlib
import math
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

_HERE = pathlib.Path(__file__).resolve().parent
_SOURCE = _HERE.parent.parent


def get_requires_for_build_wheel(config_settings=None):
    """Nothing has to be installed from PyPI."""
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the extension module and writes the wheel. Returns its name."""
    version = _version()
    tag = _tag()
    settings = config_settings or {}
    default = _SOURCE / "build" / f"python-{sys.implementation.cache_tag}"
    build = (_SOURCE / settings.get("build-dir", default)).resolve()
    name = f"nibu-{version}-{tag}.whl"
    with tempfile.TemporaryDirectory() as folder:
        package = _build(build, pathlib.Path(folder))
        with _Wheel(pathlib.Path(wheel_directory) / name) as wheel:
            for path in sorted(package.rglob("*")):
                if path.is_file():
                    wheel.add(f"nibu/{path.relative_to(package)}", path.read_bytes(), is_program=path.suffix == ".so")
            # The bundled model, which the library looks for beside itself.
            model = _SOURCE / "models" / "pretrained" / "en-de"
            for path in sorted(model.iterdir()):
                wheel.add(f"nibu/share/nibu/models/en-de/{path.name}", path.read_bytes())
            info = f"nibu-{version}.dist-info"
            for file, text in _information(version, tag).items():
                wheel.add(f"{info}/{file}", text.encode())
            wheel.add(f"{info}/licenses/LICENSE", (_SOURCE / "LICENSE").read_bytes())
            wheel.finish(f"{info}/RECORD")
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Writes what a wheel would say of itself, for which nothing has to be built."""
    folder = pathlib.Path(metadata_directory) / f"nibu-{_version()}.dist-info"
    folder.mkdir()
    for file, text in _information(_version(), _tag()).items():
        (folder / file).write_text(text)
    return folder.name


def build_sdist(sdist_directory, config_settings=None):
    """The source distribution is the source tree."""
    raise NotImplementedError("there is no source distribution of the Python package; use the source tree of nibu")


def _version():
    text = (_SOURCE / "CMakeLists.txt").read_text()
    return re.search(r"project\(nibu VERSION ([0-9.]+)", text)[1]


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _information(version, tag):
    wheel = f"Wheel-Version: 1.0\nGenerator: nibu\nRoot-Is-Purelib: false\nTag: {tag}\n"
    return {"METADATA": _metadata(version), "WHEEL": wheel}


def _metadata(version):
    lines = ["Metadata-Version: 2.1", "Name: nibu", f"Version: {version}", "Summary: Transformer translation on CPUs"]
    lines += ["License-File: LICENSE", "Requires-Python: >=3.11", "Provides-Extra: numpy",
              'Requires-Dist: numpy; extra == "numpy"']
    lines += ["Description-Content-Type: text/markdown", "", (_HERE / "README.md").read_text()]
    return "\n".join(lines)


def _build(build, stage):
    """Builds and installs the package below `stage`. Returns its folder."""
    # In a virtual environment, the programs of CMake need none of its variables.
    if not (build / "CMakeCache.txt").exists():
        _run("cmake", "-S", _SOURCE, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DNIBU_TOOLS=OFF",
             "-DNIBU_TESTS=OFF", "-DNIBU_PYTHON=ON", f"-DPython3_EXECUTABLE={sys.executable}")
    _say_what_compiles(build)
    _run("cmake", "--build", build, "--target", "nibu_python")
    _run("cmake", "--install", build, "--component", "python", "--prefix", stage, "--strip")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    for path in stage.rglob(f"_nibu{suffix}"):
        return path.parent
    found = [path.name for path in stage.rglob("_nibu*.so")]
    raise RuntimeError(f"{build} has no extension module for this Python (_nibu{suffix}), but {found or 'none'}")


def _say_what_compiles(build):
    """Says on the terminal how much there is to compile, since pip without -v shows nothing for minutes."""
    try:
        with open("/dev/tty", "w") as terminal:
            ninja = ["ninja", "-C", build, "-t", "commands", "nibu_python"]
            commands = subprocess.run(ninja, capture_output=True, text=True).stdout
            objects = re.findall(r" -o (\S+\.o) -c ", commands)
            missing = sum(not (build / name).exists() for name in objects)
            # One core of an AMD EPYC takes 7 seconds for a file on average.
            minutes = math.ceil(missing * 7 / 60 / len(os.sched_getaffinity(0)))
            if missing > 0:
                terminal.write(f"\nnibu: compiling {missing} C++ files in {build}, about {minutes} minutes without a "
                               "compiler cache; pip install -v shows the progress\n")
    except OSError:
        pass  # There is no terminal, or Ninja goes by another name.


def _run(*command):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        subprocess.run([str(part) for part in command], check=True, env=environment)
    except FileNotFoundError:
        raise RuntimeError(f"{command[0]} is missing; tools/setup.sh python installs what the build needs") from None
    except subprocess.CalledProcessError:
        raise RuntimeError(
            f"{' '.join(map(str, command))} failed; tools/setup.sh python installs what the build needs") from None


class _Wheel:
    """A wheel that is being written, and the list of its files."""

    def __init__(self, path):
        self._file = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._record = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def add(self, name, data, is_program=False):
        """Adds a file."""
        # The same files make the same wheel.
        info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o100755 if is_program else 0o100644) << 16
        self._file.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}")

    def finish(self, name):
        """Adds the list itself."""
        self.add(name, "\n".join([*self._record, f"{name},,", ""]).encode())
