"""Nobody is taken for somebody else by the names of the files."""

from __future__ import annotations

from pathlib import PurePosixPath

from hypothesis import given
from hypothesis import strategies as st

from hideseek.traces.formats import FORMATS
from hideseek.traces.users import told_apart

PARTS = st.sampled_from(["a", "b", "new_a", "a.csv", "Trajectory", "..", "."])
ENDS = st.sampled_from(["a.csv", "a.txt", "a.csv.csv", "b.csv", "new_a.txt", "new_.txt", "a"])
PATHS = st.builds(lambda parts, end: PurePosixPath(*parts, end), st.lists(PARTS, max_size=3), ENDS)
# on no disk is a file a folder too
FILES = st.dictionaries(PATHS, st.booleans(), max_size=8).filter(
    lambda files: not any(path in files for one in files for path in one.parents)
)


def folders_of(path):
    """The folders that may be a user's."""
    return {path.parent, path.parent.parent} if path.parent.name == "Trajectory" else {path.parent}


@given(FILES, st.sampled_from([*FORMATS, None]), st.randoms(use_true_random=False))
def test_two_files_are_one_users_only_in_one_folder_and_in_any_order(files, form, random):
    users, way = told_apart(list(files.items()), form)
    assert users.keys() == files.keys()
    for one in files:
        for other in files:
            if one != other and users[one] == users[other]:
                assert folders_of(one) & folders_of(other)
                assert way != "file name"
    shuffled = random.sample(list(files.items()), len(files))
    assert told_apart(shuffled, form) == (users, way)


@given(FILES, st.sampled_from([*FORMATS, None]))
def test_what_could_not_be_read_gives_nobody_else_another_name(files, form):
    read = [(path, True) for path, good in files.items() if good]
    alone, way = told_apart(read, form)
    users, _ = told_apart(list(files.items()), form)
    for path, user in alone.items():  # a path may begin further up
        assert users[path] == user or (way == "path" and users[path].endswith(user.removeprefix(".")))
