"""make_wheel.py PACKAGES SOURCE OUT: makes a wheel that runs by itself of what nibu's Debian packages install.

tools/packaging/wheel runs it where the packages were built. The wheel has the Python package, the programs, the recipes
and the bundled model, and in nibu.libs the shared libraries that they need, except those that every Linux has.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# What wheels for manylinux may expect of the system: glibc, the C++ run time, and zlib, which Python itself needs.
_OF_SYSTEM = re.compile(r"(ld-linux-x86-64|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s|z))\.so\.\d+$")
# Each version of libstdc++, and the least glibc of a distribution that came with it: GCC 12, 13 and 14.
_GLIBC_OF_GLIBCXX = {30: 35, 31: 38, 32: 38, 33: 39}


def make_wheel(packages, source, out):
    """Writes the wheel into the folder `out`. Returns its path."""
    sys.path.insert(0, str(source / "tools" / "python"))
    import build_backend

    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for package in packages.glob("*.deb"):
            _run("dpkg-deb", "-x", package, root / "debian")
        usr = root / "debian" / "usr"
        tree = root / "wheel"
        shutil.copytree(usr / "lib/python3/dist-packages/nibu", tree / "nibu")
        shutil.copytree(usr / "bin", tree / "nibu/bin")
        shutil.copytree(usr / "share/nibu", tree / "nibu/share/nibu")
        shutil.copy(pathlib.Path(__file__).parent / "commands.py", tree / "nibu/_commands.py")
        _take_libraries(tree)
        elves = [path for path in tree.rglob("*") if _is_elf(path)]
        python = build_backend._tag().rsplit("-", 1)[0]
        tag = f"{python}-manylinux_2_{_least_glibc(elves)}_x86_64"
        version = build_backend._version()
        path = out / f"nibu-{version}-{tag}.whl"
        information = f"nibu-{version}.dist-info"
        with build_backend._Wheel(path) as wheel:
            for file in sorted(tree.rglob("*")):
                if file.is_file():
                    is_program = file in elves or file.stat().st_mode & 0o111 != 0
                    wheel.add(str(file.relative_to(tree)), file.read_bytes(), is_program=is_program)
            for name, text in build_backend._information(version, tag).items():
                wheel.add(f"{information}/{name}", text.encode())
            commands = sorted(file.name for file in (tree / "nibu/bin").iterdir())
            lines = ["[console_scripts]", *(f"{command} = nibu._commands:run" for command in commands), ""]
            wheel.add(f"{information}/entry_points.txt", "\n".join(lines).encode())
            wheel.add(f"{information}/licenses/LICENSE", (source / "LICENSE").read_bytes())
            for file in sorted((root / "licenses").glob("*")):
                wheel.add(f"{information}/licenses/{file.name}", file.read_bytes())
            wheel.finish(f"{information}/RECORD")
    return path


def _take_libraries(tree):
    """Copies the libraries that the programs need, and has the programs look for them there.

    Their names get a part of their checksums, so that they are not taken for other libraries of a Python process.
    """
    places = {}
    for line in _run("ldconfig", "-p").splitlines():
        if found := re.match(r"\s*(\S+) \(libc6,x86-64\) => (\S+)", line):
            places.setdefault(found[1], pathlib.Path(found[2]))
    libraries = tree / "nibu.libs"
    licenses = tree.parent / "licenses"
    libraries.mkdir()
    licenses.mkdir()
    names = {}
    waiting = [path for path in tree.rglob("*") if _is_elf(path)]
    while waiting:
        file = waiting.pop()
        _run("patchelf", "--set-rpath", f"$ORIGIN/{os.path.relpath(libraries, file.parent)}", file)
        for needed in _run("patchelf", "--print-needed", file).split():
            if _OF_SYSTEM.match(needed):
                continue
            if needed not in names:
                place = places[needed].resolve()
                stem, ending = needed.split(".so", 1)
                names[needed] = f"{stem}-{hashlib.sha256(place.read_bytes()).hexdigest()[:8]}.so{ending}"
                copy = libraries / names[needed]
                shutil.copy(place, copy)
                _run("patchelf", "--set-soname", names[needed], copy)
                waiting.append(copy)
                package = _run("dpkg", "-S", place).split(":")[0]
                shutil.copy(f"/usr/share/doc/{package}/copyright", licenses / f"{package}.txt")
            _run("patchelf", "--replace-needed", needed, names[needed], file)


def _least_glibc(elves):
    """Returns the N of the oldest glibc 2.N that has all that the programs need."""
    least = 0
    for file in elves:
        needs = _run("readelf", "--wide", "--version-info", file)
        least = max([least, *(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", needs))])
        for minor in map(int, re.findall(r"GLIBCXX_3\.4\.(\d+)", needs)):
            if minor >= min(_GLIBC_OF_GLIBCXX):
                least = max(least, _GLIBC_OF_GLIBCXX[minor])
    return least


def _is_elf(path):
    if not path.is_file() or path.is_symlink():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    print(make_wheel(*map(pathlib.Path, sys.argv[1:])))
