"""The student and the lab of a file, by the names that platforms write. Sources for the forms of names:

Canvas      https://github.com/instructure/canvas-lms/blob/master/lib/content_zipper.rb (get_filename,
            add_upload_submission): the sortable name in lower case with nothing but letters, digits and
            `_`, LATE, the user's number, the file's number, the file's name; attempts after the first
            have -1, -2, ... in the file's name
Moodle      https://github.com/moodle/moodle/blob/main/mod/assign/classes/downloader.php
            (load_submissionplugin_filelist): a folder per student, or a prefix before each file
Moodle's    the same file, get_student_prefix(): in group assignments the group's name and number
groups
Gradescope  the export's folders submission_12345 beside submission_metadata.yml
Blackboard  https://github.com/kwurst/bb-file-cleanup: assignmentname_username_attempt_datetime_filename.ext and a
            text file for each attempt
D2L         https://github.com/cgmb/d2lmf (parse_submission_dirname): '<id_number> - <student_name> - <timestamp>', a
            folder for each attempt; the colon of the time is missing in folders' names
Sakai       `Doe, Jane(eid)/Submission attachment(s)/file` beside timestamp.txt, as scripts of several universities read it
Autolab     https://github.com/autolab/Autolab/blob/master/app/models/submission.rb: the email, the version, the handin's name
PrairieLearn  https://github.com/PrairieLearn/PrairieLearn, apps/prairielearn/src/pages/instructorAssessmentDownloads/
            instructorAssessmentDownloads.tsx (extractFilesForSubmissions, extractFilesForManualGrading): the address or
            the group, numbers and the question, the file's name, in a folder named after the assessment
Submitty    https://github.com/Submitty/Submitty/blob/main/site/app/controllers/MiscController.php (downloadAssignedZips):
            submissions/, checkout/ and results/ with a folder per student, in which each version has a folder unless
            only active ones are downloaded; a grader's own sections have the students' folders at the top
Teams       https://github.com/rtotheb2000/Microsoft-Teams-Retrieve-Assignments-Hand-In (HandedInFile): the library of a
            class, the folder of what was submitted, the student, the assignment, `Version 1`. In English the library is
            `CLASS - Student Work`, its folders `Submitted files` and `Working files`
GitHub      https://github.com/github/gh-classroom/blob/main/cmd/gh-classroom/clone/student-repos/student-repos.go:
Classroom   ASSIGNMENT-submissions/REPOSITORY
Classroom   https://github.com/foundation50/classroom50/wiki/CLI-Teacher-Guide (download): CLASSROOM-ASSIGNMENT-USER below
50          CLASSROOM-ASSIGNMENT_submissions_TIME/, beside scores.csv, with result.json and results.json in each
"""

import pytest

from lab32.classroom import entries, names

LABS = ["bank_conflicts", "reduction", "shuffle"]


@pytest.mark.parametrize(
    "name, user, person, file, late",
    [
        ("doejane_12345_67890_reduction.cu", "12345", "doejane", "reduction.cu", False),
        ("doejane_LATE_12345_67890_reduction-2.cu", "12345", "doejane", "reduction-2.cu", True),
        ("müllerjörg_12345_67890_bank_conflicts.cu", "12345", "müllerjörg", "bank_conflicts.cu", False),
        ("王小明_12345_67890_my file (1).zip", "12345", "王小明", "my file (1).zip", False),
        ("doejane_12345_67890_lab_2_3_reduction.cu", "12345", "doejane", "lab_2_3_reduction.cu", False),
    ],
)  # fmt: skip
def test_canvas(name, user, person, file, late):
    who = names.owner_in_platform_file_name(name)
    assert (who.kind, who.id, who.name, who.file, who.late) == ("canvas", user, person, file, late)
    assert who.order == 67890
    assert who.ids == (("canvas", user),)


@pytest.mark.parametrize("late", ["", "LATE_"])
def test_canvas_without_names(late):
    who = names.owner_in_platform_file_name(f"{late}anon_x7Kp2_67890_reduction.cu")
    assert (who.kind, who.id, who.file, who.late) == (
        "anonymous", "anon_x7Kp2", "reduction.cu", bool(late),
    )  # fmt: skip
    assert who.ids == ()


@pytest.mark.parametrize(
    "name, person, file",
    [
        ("Jane Doe_1234_assignsubmission_file_", "Jane Doe", ""),
        ("Jane Doe_1234_assignsubmission_file", "Jane Doe", ""),
        ("Jane Doe_1234_assignsubmission_file_reduction.cu", "Jane Doe", "reduction.cu"),
        ("Jane Doe_1234_assignsubmission_onlinetext_", "Jane Doe", ""),
        ("Participant_1234_assignsubmission_file_", "Participant", ""),
        ("Σωκράτης Παπαδόπουλος_1234_assignsubmission_file_", "Σωκράτης Παπαδόπουλος", ""),
    ],
)
def test_moodle(name, person, file):
    who = names.owner_in_platform_file_name(name)
    assert (who.kind, who.id, who.name, who.file) == ("moodle", "1234", person, file)


@pytest.mark.parametrize(
    "name, user, file, time",
    [
        ("Lab 1_jdoe_attempt_2026-11-22-09-05-00_file.cu", "jdoe", "file.cu", "2026-11-22 09:05"),
        ("Lab_1_rroe2_attempt_2026-11-22-10-00-00_my_file-2.cu", "rroe2", "my_file-2.cu", "2026-11-22 10:00"),
        ("Lab_12345_attempt_2026-11-22-10-00-00.txt", "12345", "", "2026-11-22 10:00"),
    ],
)
def test_blackboard(name, user, file, time):
    who = names.owner_in_platform_file_name(name)
    assert (who.platform, who.ids, who.file) == ("blackboard", (("sid", user),), file)
    assert f"{who.time:%Y-%m-%d %H:%M}" == time


@pytest.mark.parametrize(
    "name, person, file, time",
    [
        ("397063-2557369 - Mary-Ann Smith - Sep 24, 2024 926 PM", "Mary-Ann Smith", "", "2024-09-24 21:26"),
        ("397063-2557369 - Jane Doe - Sep 4, 2024 110 PM", "Jane Doe", "", "2024-09-04 13:10"),
        ("397063-2557369 - Jane Doe - Sep 29, 2015 4:17 PM", "Jane Doe", "", "2015-09-29 16:17"),
        ("397063-2557369 - Jane Doe - 24 September, 2024 2126", "Jane Doe", "", "2024-09-24 21:26"),
        ("12345-67890 - N0123456 - Jane Doe- Sep 24, 2024 926 AM - my - file.cu", "Jane Doe", "my - file.cu", "2024-09-24 09:26"),
    ],
)  # fmt: skip
def test_d2l(name, person, file, time):
    who = names.owner_in_platform_file_name(name)
    assert (who.kind, who.name, who.file) == ("d2l", person, file)
    assert f"{who.time:%Y-%m-%d %H:%M}" == time


@pytest.mark.parametrize(
    "name, person, user, file",
    [
        ("Doe, Jane(jdoe)", "Jane Doe", "jdoe", ""),
        ("Number, Student(stdnum001)_Submission attachment(s)_file.cu", "Student Number", "stdnum001", "file.cu"),
    ],
)
def test_sakai(name, person, user, file):
    who = names.owner_in_platform_file_name(name)
    assert (who.platform, who.name, who.ids, who.file) == ("sakai", person, (("sid", user),), file)


@pytest.mark.parametrize(
    "name, kind, user, order, file",
    [
        ("jdoe@uni.edu_3_shuffle.cu", "email", "jdoe@uni.edu", 3, "shuffle.cu"),
        ("j_doe@uni.edu_12_lab_1_shuffle.cu", "email", "j_doe@uni.edu", 12, "lab_1_shuffle.cu"),
        ("jdoe@uni.edu_1_bank_conflicts_1_2_101_bank_conflicts.cu", "email", "jdoe@uni.edu", 101, "bank_conflicts.cu"),
        ("jdoe@uni.edu_1_lab_2_1_1_101_shuffle.cu", "email", "jdoe@uni.edu", 101, "shuffle.cu"),
        ("Team_A_1_shuffle_1_1_102_my_shuffle.cu", "name", "Team_A", 102, "my_shuffle.cu"),
        ("jdoe@uni.edu_123456789_bank_conflicts_103_file.cu", "email", "jdoe@uni.edu", 103, "file.cu"),
        ("jdoe@uni.edu_u12_shuffle_104_shuffle.cu", "email", "jdoe@uni.edu", 104, "shuffle.cu"),
        ("jdoe@uni.edu__shuffle_105_shuffle.cu", "email", "jdoe@uni.edu", 105, "shuffle.cu"),
    ],
)  # fmt: skip
def test_autolab_and_prairielearn(name, kind, user, order, file):
    who = names.owner_in_platform_file_name(name)
    assert (who.kind, who.id, who.order, who.file) == (kind, user, order, file)


def test_gradescope():
    who = names.owner_in_platform_file_name("submission_98765")
    assert (who.kind, who.id, who.order) == ("gradescope", "98765", 98765)


@pytest.mark.parametrize(
    "name", ["Jane Doe", "jane_reduction.cu", "submission", "12345", "a_1_b", "2026_11_23_Jane"]
)
def test_names_without_a_platforms_form(name):
    assert names.owner_in_platform_file_name(name) is None


def test_two_spellings_of_a_name_are_one_student():
    composed, apart = names.submission_owner_by_plain_name("J\u00f6rg"), names.submission_owner_by_plain_name("Jo\u0308rg")
    assert composed == apart


@pytest.mark.parametrize(
    "name, lab, exactness, attempt, prefix",
    [
        ("reduction.cu", "reduction", 2, 0, ""),
        ("Reduction.CU", "reduction", 2, 0, ""),
        ("reduction-2.cu", "reduction", 2, 2, ""),
        ("reduction (3).cu", "reduction", 2, 3, ""),
        ("reduction_v4.cu", "reduction", 2, 4, ""),
        ("bank conflicts.cu", "bank_conflicts", 2, 0, ""),
        ("BankConflicts.cu", "bank_conflicts", 2, 0, ""),
        ("ann_reduction.cu", "reduction", 1, 0, "ann"),
        ("Ann Lee - reduction (2).cu", "reduction", 1, 2, "Ann Lee"),
        ("小明_bank_conflicts-10.cu", "bank_conflicts", 1, 10, "小明"),
        ("my reduction final.cu", "reduction", 0, 0, ""),
    ],
)
def test_the_lab_of_a_file(name, lab, exactness, attempt, prefix):
    assert names.match_lab_in_file_name(name, LABS) == names.LabParsedFromFileName(lab, exactness, attempt, prefix)


@pytest.mark.parametrize("name", ["main.cu", "shuffle and reduction notes.cu", "preduction.cu"])
def test_a_file_name_without_a_lab(name):
    assert names.match_lab_in_file_name(name, LABS) is None


@pytest.mark.parametrize("part", ["__MACOSX", "._reduction.cu", ".DS_Store", "Thumbs.db"])
def test_files_of_operating_systems_are_ignored(part):
    assert entries.is_junk_path(("ann", part))
