"""Makes the packages for students, Gradescope, Autolab and containers from a wheel that was built before.

usage: make_dist.py VERSION WHEEL OUT [LAB...]

OUT/students/lab32-VERSION.tar.gz and the wheel, OUT/gradescope/autograder.zip,
OUT/autolab/autograde.tar and autograde-Makefile, OUT/prairielearn with files for a course, OUT/github with a workflow,
OUT/classroom50 with files for a classroom, OUT/container with all that an image is made of. The autograders grade
the LABs, or all labs if none is named. The content of an archive depends only on the wheel: it contains no time
and no user.
"""

import gzip
import io
import shutil
import sys
import tarfile
import uuid
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = "lab32/tree/"
AUTOGRADER = {
    "gradescope": ["setup.sh", "run_autograder", "grade", "settings"],
    "autolab": ["setup.sh", "run", "grade", "settings"],
    "classroom50": ["setup.sh", "autograder.py", "grade", "settings"],
}
# PrairieLearn's image has lab32 already.
PRAIRIELEARN = ["run_prairielearn", "grade", "settings"]
EPOCH = (2020, 1, 1, 0, 0, 0)


def autograder_files(platform, wheel, version, labs):
    """Returns {name: (content, executable)} of the files for a platform."""
    return {wheel.name: (wheel.read_bytes(), False)} | filled_templates(AUTOGRADER[platform], version, labs)


def filled_templates(names, version, labs):
    """Returns {name: (content, executable)} of files in autograder/, with their placeholders filled in."""
    files = {}
    for name in names:
        text = (HERE / "autograder" / name).read_text()
        text = text.replace("@LABS@", " ".join(labs)).replace("@VERSION@", version)
        files[name] = (text.encode(), text.startswith("#!"))
    return files


def write_folder(folder, files):
    folder.mkdir(parents=True)
    for name, (content, executable) in files.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o755 if executable else 0o644)


def write_prairielearn_files(out, version, labs):
    """Writes serverFilesCourse/lab32 of a course, and a question for each lab."""
    write_folder(out / "serverFilesCourse/lab32", filled_templates(PRAIRIELEARN, version, labs))
    for lab in labs:
        text = (HERE / "autograder/info.json").read_text().replace("@LAB@", lab)
        text = text.replace("00000000-0000-4000-8000-000000000000", str(uuid.uuid5(uuid.NAMESPACE_URL, f"lab32/{lab}")))
        page = f'<pl-file-upload file-names="{lab}.cu"></pl-file-upload>\n<pl-external-grader-results></pl-external-grader-results>\n'
        write_folder(out / f"questions/{lab}", {"info.json": (text.encode(), False), "question.html": (page.encode(), False)})


def write_dot_github_folder(out, wheel, version, labs):
    """Writes the folder .github for a repository that contains labs/."""
    write_folder(out / "workflows", filled_templates(["lab32.yml"], version, labs))
    write_folder(out / "lab32", {wheel.name: (wheel.read_bytes(), False)})


def students_pack_files(wheel, version):
    """Writes the wheel and, beside it, labs and handouts as `lab32 init` would write them."""
    readme = (HERE / "students.md").read_text()
    readme = readme.replace("@VERSION@", version).replace("@WHEEL@", wheel.name)
    files = {wheel.name: (wheel.read_bytes(), False), "README.md": (readme.encode(), False)}
    with zipfile.ZipFile(wheel) as held:
        for name in held.namelist():
            below = name.removeprefix(TREE)
            wanted = name.startswith(TREE) and below.startswith(("labs/", "handouts/", "LICENSE"))
            if wanted and not name.endswith("/"):
                files[below] = (held.read(name), False)
    return files


def labs_in_wheel(wheel):
    with zipfile.ZipFile(wheel) as held:
        names = map(Path, held.namelist())
    return sorted(p.stem for p in names if p.match(f"{TREE}data/limits/*.toml"))


def make_tar(top, files):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, (content, executable) in sorted(files.items()):
            info = tarfile.TarInfo(f"{top}/{name}")
            info.size, info.mode = len(content), 0o755 if executable else 0o644
            tar.addfile(info, io.BytesIO(content))
    return held.getvalue()


def make_zip(files):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, (content, executable) in sorted(files.items()):
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(info, content)
    return held.getvalue()


def main():
    version, wheel, out, *labs = sys.argv[1:]
    wheel, out = Path(wheel), Path(out)
    known = labs_in_wheel(wheel)
    for lab in labs:
        if lab not in known:
            sys.exit(f"make dist: there is no lab `{lab}`; the labs are: {', '.join(known)}")
    labs = labs or known
    shutil.rmtree(out, ignore_errors=True)
    for platform in ("students", "container", "gradescope", "autolab"):
        (out / platform).mkdir(parents=True)
    name = f"lab32-{version}"
    pack = gzip.compress(make_tar(name, students_pack_files(wheel, version)), mtime=0)
    (out / f"students/{name}.tar.gz").write_bytes(pack)
    shutil.copy(wheel, out / "students")
    files = autograder_files("gradescope", wheel, version, labs)
    (out / "gradescope/autograder.zip").write_bytes(make_zip(files))
    files = autograder_files("autolab", wheel, version, labs)
    (out / "autolab/autograde.tar").write_bytes(make_tar("autograde", files))
    shutil.copy(HERE / "autograder/autograde-Makefile", out / "autolab")
    write_prairielearn_files(out / "prairielearn", version, labs)
    write_folder(out / "classroom50", autograder_files("classroom50", wheel, version, labs))
    write_dot_github_folder(out / "github", wheel, version, labs)
    for recipe in (HERE / "container").iterdir():
        shutil.copy(recipe, out / "container")
    shutil.copy(HERE / "autograder/setup.sh", out / "container")
    shutil.copy(wheel, out / "container")
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
