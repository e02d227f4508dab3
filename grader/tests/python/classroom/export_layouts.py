"""Exports as each platform makes them, and the rows that they must get: layout in, rows out.

.venv/bin/python grader/tests/python/classroom/export_layouts.py        prints the table of what is read

Sources for the forms of names are in test_class_names.py. Every file in an export belongs to a row."""

import io
import tarfile
from dataclasses import dataclass, field

from class_tools import zipped

GRADED, NOT_READABLE, REFUSED, ABSENT = "graded", "not readable", "refused", "not handed in"


def tarred(files, mode="w"):
    """The bytes of a tar archive; `mode` may be w:gz, w:xz or w:bz2."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            content = text if isinstance(text, bytes) else text.encode()
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def points(n):
    return f"// score {n}\n"


SEVEN_ZIP = b"7z\xbc\xaf\x27\x1c" + bytes(40)
RAR = b"Rar!\x1a\x07\x01\x00" + bytes(40)
METADATA = """---
submission_901:
  :submitters:
  - :name: Jane Doe
    :sid: 's1'
    :email: jane@example.edu
  :created_at: 2026-11-20 12:00:00.000000000 Z
submission_902:
  :submitters:
  - :name: Ann Lee
    :sid: 's2'
  - :name: Bob Roe
    :sid: 's3'
  :created_at: 2026-11-21 12:00:00.000000000 Z
"""
BLACKBOARD_TEXT = """Name: Rita Roe (r_roe2)
Assignment: Lab
Date Submitted: Sunday, November 22, 2026 10:00:00 AM CET
Submission Field:
There is no student submission text data for this assignment.
"""
GROUPS = "group,student id,name\nTeam A,s1,Jane Doe\nTeam A,s2,Ann Lee\nTeam B,s3,Bob Roe\n"


@dataclass
class Layout:
    platform: str
    form: str
    files: dict  # {path: content}
    rows: dict  # {name: (status, score, words in the notes)}
    options: list = field(default_factory=lambda: ["--labs", "shuffle"])
    groups: str = ""

    def name(self):
        return f"{self.platform}: {self.form}"


LAYOUTS = [
    Layout("Canvas", "flat files, a zip, LATE, a PDF and a text entry", {
        "doejane_11_501_shuffle.cu": points(50), "leeann_LATE_12_502_lab.zip": zipped({"shuffle.cu": points(60)}),
        "poepat_13_503_report.pdf": b"%PDF", "roerita_14_504_text.html": "<p>",
    }, {"doejane": (GRADED, "50", ""), "leeann": (GRADED, "60", ""),
        "poepat": (NOT_READABLE, "", "report.pdf"), "roerita": (NOT_READABLE, "", "text.html")}),
    Layout("Canvas", "a header beside the file, in its second attempt", {
        "doejane_11_501_shuffle-1.cu": '#include "util.h"\n' + points(50), "doejane_11_502_util-1.h": "",
    }, {"doejane": (GRADED, "50", "")}),
    Layout("Canvas", "anonymous grading", {
        "anon_x7Kp2_501_shuffle.cu": points(50), "LATE_anon_y8Lq3_502_shuffle.cu": points(60),
    }, {"anon_x7Kp2": (GRADED, "50", ""), "anon_y8Lq3": (GRADED, "60", "")}),
    Layout("Moodle", "folders: files, .tgz, .7z, an empty folder, online text", {
        "Jane Doe_11_assignsubmission_file_/shuffle.cu": points(50),
        "Ann Lee_12_assignsubmission_file_/work.tgz": tarred({"shuffle.cu": points(60)}, "w:gz"),
        "Pat Poe_13_assignsubmission_file_/work.7z": SEVEN_ZIP,
        "Bob Roe_14_assignsubmission_file_/": None,
        "Rita Roe_15_assignsubmission_onlinetext_/onlinetext.html": "<p>",
    }, {"Jane Doe": (GRADED, "50", ""), "Ann Lee": (GRADED, "60", ""), "Pat Poe": (NOT_READABLE, "", "work.7z"),
        "Bob Roe": (NOT_READABLE, "", "an empty folder"), "Rita Roe": (NOT_READABLE, "", "onlinetext.html")}),
    Layout("Moodle", "flat files", {
        "Jane Doe_11_assignsubmission_file_shuffle.cu": points(50),
        "Ann Lee_12_assignsubmission_file_work.tar.xz": tarred({"shuffle.cu": points(60)}, "w:xz"),
        "Pat Poe_13_assignsubmission_file_work.rar": RAR,
    }, {"Jane Doe": (GRADED, "50", ""), "Ann Lee": (GRADED, "60", ""), "Pat Poe": (NOT_READABLE, "", "work.rar")}),
    Layout("Moodle", "groups, with --groups", {
        "Team A_57_assignsubmission_file_/shuffle.cu": points(50),
        "Team B_58_assignsubmission_file_/shuffle.cu": points(60),
    }, {"Jane Doe": (GRADED, "50", ""), "Ann Lee": (GRADED, "50", ""), "Bob Roe": (GRADED, "60", "")}, groups=GROUPS),
    Layout("Canvas", "groups, with --groups", {
        "teama_11_501_shuffle.cu": points(50), "teamb_12_502_shuffle.cu": points(60),
    }, {"Jane Doe": (GRADED, "50", ""), "Ann Lee": (GRADED, "50", ""), "Bob Roe": (GRADED, "60", "")}, groups=GROUPS),
    Layout("Gradescope", "an export with a group and a notebook", {
        "assignment_7_export/submission_metadata.yml": METADATA,
        "assignment_7_export/submission_901/shuffle.cu": points(50),
        "assignment_7_export/submission_902/shuffle.ipynb": "{}",
    }, {"Jane Doe": (GRADED, "50", ""), "Ann Lee": (NOT_READABLE, "", "shuffle.ipynb"),
        "Bob Roe": (NOT_READABLE, "", "shuffle.ipynb")}),
    Layout("Blackboard", "two attempts with their .txt, a name with an underscore, no file", {
        "Lab_jdoe_attempt_2026-11-22-10-00-00_handin.cu": points(10),
        "Lab_jdoe_attempt_2026-11-22-10-00-00.txt": "Name: Jane Doe (jdoe)\n",
        "Lab_jdoe_attempt_2026-11-23-10-00-00_handin.cu": points(50),
        "Lab_jdoe_attempt_2026-11-23-10-00-00.txt": "Name: Jane Doe (jdoe)\n",
        "Lab_r_roe2_attempt_2026-11-22-10-00-00_file.cu": points(60),
        "Lab_r_roe2_attempt_2026-11-22-10-00-00.txt": BLACKBOARD_TEXT,
        "Lab_ppoe_attempt_2026-11-22-10-00-00.txt": "Name: Pat Poe (ppoe)\n",
    }, {"Jane Doe": (GRADED, "50", "passed over: "), "Rita Roe": (GRADED, "60", ""),
        "Pat Poe": (NOT_READABLE, "", "no file")}),
    Layout("D2L Brightspace", "folders with times, two attempts, index.html", {
        "index.html": "<html>", "201-99 - Jane Doe - Nov 22, 2026 1000 AM/handin.cu": points(10),
        "201-99 - Jane Doe - Nov 22, 2026 926 PM/handin.cu": points(50),
        "202-99 - Ann Lee - Nov 22, 2026 10:00 AM/work.zip": zipped({"shuffle/shuffle.cu": points(60)}),
        "203-99 - Pat Poe - Nov 22, 2026 1000 AM/report.pdf": b"%PDF",
    }, {"Jane Doe": (GRADED, "50", "passed over: "), "Ann Lee": (GRADED, "60", ""),
        "Pat Poe": (NOT_READABLE, "", "report.pdf")}),
    Layout("D2L Brightspace", "flat files", {
        "201-99 - Jane Doe- Nov 22, 2026 1000 AM - handin.cu": points(50),
        "202-99 - N0042 - Ann Lee- Nov 22, 2026 1000 AM - shuffle.cu": points(60),
    }, {"Jane Doe": (GRADED, "50", ""), "Ann Lee": (GRADED, "60", "")}),
    Layout("Sakai", "folders with attachments, times and grades.csv", {
        "Lab 1/grades.csv": "Lab 1,Points\n",
        "Lab 1/Doe, Jane(jdoe)/Submission attachment(s)/handin.cu": points(50),
        "Lab 1/Doe, Jane(jdoe)/timestamp.txt": "20261122100000000",
        "Lab 1/Doe, Jane(jdoe)/comments.txt": "", "Lab 1/Doe, Jane(jdoe)/Feedback Attachment(s)/": None,
        "Lab 1/Doe, Jane(jdoe)/Doe, Jane(jdoe)_submissionText.html": "",
        "Lab 1/Lee, Ann(alee)/Submission attachment(s)/work.tar": tarred({"shuffle.cu": points(60)}),
        "Lab 1/Poe, Pat(ppoe)/Submission attachment(s)/": None, "Lab 1/Poe, Pat(ppoe)/timestamp.txt": "",
    }, {"Jane Doe": (GRADED, "50", ""), "Ann Lee": (GRADED, "60", ""), "Pat Poe": (NOT_READABLE, "", "an empty folder")}),
    Layout("Google Classroom", "Drive's folder, names with the student", {
        "Jane Doe - shuffle.cu": points(50), "shuffle - Ann Lee.cu": points(60), "Pat Poe - handin.cu": points(70),
    }, {"Jane Doe": (GRADED, "50", ""), "Ann Lee": (GRADED, "60", ""), "Pat Poe": (GRADED, "70", "")}),
    Layout("Google Classroom", "Drive's folder, names without the student", {
        "Jane Doe - shuffle.cu": points(50), "shuffle.cu": points(60), "shuffle (1).cu": points(70),
    }, {"Jane Doe": (GRADED, "50", ""), "shuffle.cu": (NOT_READABLE, "", "the name does not tell the student"),
        "shuffle (1).cu": (NOT_READABLE, "", "the name does not tell the student")}),
    Layout("Autolab", "flat files, two attempts, a PDF", {
        "jdoe@uni.edu_3_shuffle.cu": points(50), "jdoe@uni.edu_1_shuffle.cu": points(10),
        "a_lee@uni.edu_2_work.zip": zipped({"shuffle.cu": points(60)}), "ppoe@uni.edu_1_report.pdf": b"%PDF",
    }, {"jdoe@uni.edu": (GRADED, "50", "passed over: "), "a_lee@uni.edu": (GRADED, "60", ""),
        "ppoe@uni.edu": (NOT_READABLE, "", "report.pdf")}),
    Layout("PrairieLearn", "flat files, two attempts", {
        "jdoe@uni.edu_1_shuffle_1_1_101_shuffle.cu": points(10), "jdoe@uni.edu_1_shuffle_1_2_103_shuffle.cu": points(50),
        "alee@uni.edu_1_shuffle_1_1_102_shuffle.cu": points(60),
    }, {"jdoe@uni.edu": (GRADED, "50", "passed over: "), "alee@uni.edu": (GRADED, "60", "")}),
    Layout("PrairieLearn", "all files of groups, with --groups", {
        "Lab1/Team A_1_shuffle_1_1_101_shuffle.cu": points(50), "Lab1/Team A_1_shuffle_1_1_101_util.h": "",
        "Lab1/Team B_1_shuffle_1_1_102_shuffle.cu": points(60),
    }, {"Jane Doe": (GRADED, "50", ""), "Ann Lee": (GRADED, "50", ""), "Bob Roe": (GRADED, "60", "")}, groups=GROUPS),
    Layout("PrairieLearn", "files for manual grading, with and without ids", {
        "Lab1/jdoe@uni.edu_123456789_shuffle_103_shuffle.cu": points(50),
        "Lab1/alee@uni.edu__shuffle_104_shuffle.cu": points(60), "Lab1/roe@uni.edu_u123_shuffle_105_shuffle.cu": points(70),
    }, {"jdoe@uni.edu": (GRADED, "50", ""), "alee@uni.edu": (GRADED, "60", ""), "roe@uni.edu": (GRADED, "70", "")}),
    Layout("Microsoft Teams", "the synchronised library, with drafts", {
        "Lab - Student Work/Submitted files/Jane Doe/Lab 1/Version 1/shuffle.cu": points(50),
        "Lab - Student Work/Submitted files/Ann Lee/Lab 1/Version 1/shuffle.cu": points(60),
        "Lab - Student Work/Working files/Ann Lee/Lab 1/shuffle.cu": points(10),
    }, {"Jane Doe": (GRADED, "50", ""), "Ann Lee": (GRADED, "60", "")}),
    Layout("Microsoft Teams", "a folder per student with versions", {
        "Submitted files/Jane Doe/Lab 1/Version 1/shuffle.cu": points(10),
        "Submitted files/Jane Doe/Lab 1/Version 2/shuffle.cu": points(50),
        "Submitted files/Ann Lee/Lab 1/Version 1/shuffle.cu": points(60),
        "Submitted files/Pat Poe/Lab 1/Version 1/report.pdf": b"%PDF",
    }, {"Jane Doe": (GRADED, "50", "passed over: "), "Ann Lee": (GRADED, "60", ""), "Pat Poe": (NOT_READABLE, "", "report.pdf")}),
    Layout("GitHub Classroom", "gh classroom clone student-repos", {
        "lab1-submissions/lab1-janedoe/labs/shuffle/shuffle.cu": points(50), "lab1-submissions/lab1-janedoe/README.md": "",
        "lab1-submissions/lab1-janedoe/.github/workflows/lab32.yml": "",
        "lab1-submissions/lab1-annlee/labs/shuffle/shuffle.cu": points(60), "lab1-submissions/lab1-ppoe/README.md": "",
    }, {"lab1-janedoe": (GRADED, "50", ""), "lab1-annlee": (GRADED, "60", ""), "lab1-ppoe": (NOT_READABLE, "", "README.md")}),
    Layout("Classroom 50", "gh teacher download", {
        "cs-lab1_submissions_2026_11_22_T_14_30_45/scores.csv": "username,score\n",
        "cs-lab1_submissions_2026_11_22_T_14_30_45/cs-lab1-janedoe/labs/shuffle/shuffle.cu": points(50),
        "cs-lab1_submissions_2026_11_22_T_14_30_45/cs-lab1-janedoe/result.json": "{}",
        "cs-lab1_submissions_2026_11_22_T_14_30_45/cs-lab1-annlee/labs/shuffle/shuffle.cu": points(60),
    }, {"cs-lab1-janedoe": (GRADED, "50", ""), "cs-lab1-annlee": (GRADED, "60", "")}),
    Layout("Submitty", "all versions, with results", {
        "submissions/jdoe/1/shuffle.cu": points(10), "submissions/jdoe/2/shuffle.cu": points(50),
        "submissions/jdoe/user_assignment_settings.json": "{}", "submissions/alee/1/shuffle.cu": points(60),
        "results/jdoe/2/results.json": "{}", "results/alee/1/results.json": "{}",
    }, {"jdoe": (GRADED, "50", "passed over: 1/shuffle.cu"), "alee": (GRADED, "60", "")}),
    Layout("Submitty", "active versions of repositories", {
        "submissions/jdoe/.submit.VCS_CHECKOUT": "", "checkout/jdoe/shuffle.cu": points(50),
        "submissions/alee/.submit.VCS_CHECKOUT": "", "checkout/alee/shuffle.cu": points(60),
    }, {"jdoe": (GRADED, "50", ""), "alee": (GRADED, "60", "")}),
    Layout("Submitty", "a folder per student with numbered attempts", {
        "jdoe/1/shuffle.cu": points(10), "jdoe/2/shuffle.cu": points(50), "jdoe/user_assignment_settings.json": "{}",
        "alee/1/shuffle.cu": points(60), "alee/1/.submit.timestamp": "", "ppoe/1/report.pdf": b"%PDF",
    }, {"jdoe": (GRADED, "50", "passed over: 1/shuffle.cu"), "alee": (GRADED, "60", ""), "ppoe": (NOT_READABLE, "", "report.pdf")}),
    Layout("by hand", "a folder each: .cu.txt, .CU, headers in a folder, a project", {
        "ann/shuffle.cu.txt": points(50), "bob/Shuffle (1).CU": points(60),
        "eve/src/shuffle.cu": '#include "inc/util.h"\n' + points(70), "eve/src/inc/util.h": '#include "more.inc"\n',
        "eve/src/inc/more.inc": "",
        "pat/labs/shuffle/shuffle.cu": points(80), "pat/solutions_old/shuffle/shuffle.cu": points(10),
    }, {"ann": (GRADED, "50", ""), "bob": (GRADED, "60", ""), "eve": (GRADED, "70", ""),
        "pat": (GRADED, "80", "passed over: solutions_old/shuffle/shuffle.cu")}),
    Layout("by hand", "an archive each: zip, tar, tar.gz, tgz, tar.xz, tar.bz2, nested, macOS, Windows", {
        "ann.zip": zipped({"shuffle.cu": points(10), "__MACOSX/._shuffle.cu": b"\0"}),
        "bob.tar": tarred({"shuffle.cu": points(20)}), "cat.tar.gz": tarred({"shuffle.cu": points(30)}, "w:gz"),
        "dan.tgz": tarred({"./x/shuffle.cu": points(40)}, "w:gz"), "eve.tar.xz": tarred({"shuffle.cu": points(50)}, "w:xz"),
        "fay.tar.bz2": tarred({"shuffle.cu": points(60)}, "w:bz2"),
        "gus.zip": zipped({"inner.tar.gz": tarred({"shuffle.cu": points(70)}, "w:gz")}),
        "hal.zip": zipped({"work\\shuffle\\shuffle.cu": points(80)}),
        "ian.zip": zipped({"shuffle.cu": b"\xef\xbb\xbf\r\n// score 90\r\n"}),
    }, {"ann": (GRADED, "10", ""), "bob": (GRADED, "20", ""), "cat": (GRADED, "30", ""), "dan": (GRADED, "40", ""),
        "eve": (GRADED, "50", ""), "fay": (GRADED, "60", ""), "gus": (GRADED, "70", ""), "hal": (GRADED, "80", ""),
        "ian": (GRADED, "90", "")}),
    Layout("by hand", "what cannot be read: 7z, rar, pdf, ipynb, an empty folder, a broken zip", {
        "ann.7z": SEVEN_ZIP, "bob.rar": RAR, "cat_shuffle.pdf": b"%PDF", "dan/shuffle.ipynb": "{}", "eve/": None,
        "fay.zip": b"PK\3\4 half", "gus.cu": points(50), "hal/shuffle.cu": points(60), "hal/notes.txt": "",
    }, {"ann": (NOT_READABLE, "", "ann.7z"), "bob": (NOT_READABLE, "", "bob.rar"),
        "cat": (NOT_READABLE, "", "cat_shuffle.pdf"), "dan": (NOT_READABLE, "", "shuffle.ipynb"),
        "eve": (NOT_READABLE, "", "an empty folder"), "fay": (REFUSED, "0", "not a readable zip"),
        "gus.cu": (NOT_READABLE, "", "the name does not tell the student"), "hal": (GRADED, "60", "")}),
    Layout("by hand", "one lab read, the other not", {
        "ann/shuffle.cu": points(50), "ann/swizzle.7z": SEVEN_ZIP, "bob/shuffle.cu": points(60), "bob/report.pdf": b"%PDF",
    }, {"ann": (NOT_READABLE, "", "swizzle.7z"), "bob": (GRADED, "60", "")}, ["--labs", "shuffle,swizzle"]),
    Layout("by hand", "the whole export in a tar.gz", {
        "class.tar.gz": tarred({"class/ann/shuffle.cu": points(50), "class/bob.zip": zipped({"shuffle.cu": points(60)})}, "w:gz"),
    }, {"ann": (GRADED, "50", ""), "bob": (GRADED, "60", "")}),
    Layout("by hand", "a folder per lab, and a tar per lab", {
        "shuffle/ann/handin.cu": points(50), "shuffle/bob.zip": zipped({"lab1.cu": points(60)}),
        "swizzle.tar.gz": tarred({"ann/handin.cu": points(70), "bob/work.7z": SEVEN_ZIP}, "w:gz"),
    }, {"ann": (GRADED, "120", ""), "bob": (NOT_READABLE, "", "work.7z")}, ["--labs", "shuffle,swizzle"]),
]  # fmt: skip


def main():
    print("| platform | layout | files in | rows out |\n| --- | --- | ---: | --- |")
    for layout in LAYOUTS:
        rows = ", ".join(f"{name}: {status} {score}".strip() for name, (status, score, _) in layout.rows.items())
        print(f"| {layout.platform} | {layout.form} | {len(layout.files)} | {rows} |")


if __name__ == "__main__":
    main()
