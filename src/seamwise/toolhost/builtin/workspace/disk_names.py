"""The spelling of a name on the disk, where a folder accepts several spellings of it.

Some file systems ignore the case of names or the form of Unicode in them, or know a second, short
name of each file. Rules compare names, so a rule for `secrets.txt` must apply to `SECRETS.TXT` too
if both open the same file.
"""

import errno
import os
import unicodedata

from seamwise.toolhost.builtin.time_limit import TimeLimit


def disk_name(folder: int, name: str, status: os.stat_result, limit: TimeLimit) -> str:
    """Return the name of an entry as its folder lists it.

    The folder is listed only if another spelling of the name leads to the same entry.

    Args:
        folder: The descriptor of the folder.
        name: The name that the entry was looked up with.
        status: The status of the entry, of a symlink its own.
        limit: The limit of the time of the call.

    Raises:
        OSError: the folder cannot be listed, or lists no such entry.
        OutOfTime: the time of the call is over.
    """
    if not any(_is_same(folder, spelling, status) for spelling in _other_spellings(name)):
        return name
    names: list[str] = []
    same_entries: list[str] = []
    for entry, number in _entries(folder, limit):
        if entry == name:
            return name
        if _normalized(entry) == _normalized(name):
            names.append(entry)
        elif number == status.st_ino:
            same_entries.append(entry)
    candidates = names or same_entries
    if not candidates:
        # Without its name on the disk, no rule can decide about the entry.
        raise PermissionError(errno.EPERM, 'the folder does not list this entry', name)
    return candidates[0]


def _other_spellings(name: str) -> set[str]:
    spellings = {name.swapcase()}
    if not name.isascii():
        spellings |= {unicodedata.normalize(form, name) for form in ('NFC', 'NFD')}
        # Some systems ignore characters without width, which HFS+ made known.
        spellings.add(''.join(char for char in name if unicodedata.category(char) != 'Cf'))
    return spellings - {name, ''}


def _is_same(folder: int, name: str, status: os.stat_result) -> bool:
    try:
        other = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except (OSError, UnicodeEncodeError):
        # For example, a name that only this spelling makes too long.
        return False
    return os.path.samestat(other, status)


def _entries(folder: int, limit: TimeLimit) -> list[tuple[str, int]]:
    descriptor = os.open('.', os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    entries: list[tuple[str, int]] = []
    try:
        with os.scandir(descriptor) as scan:
            for entry in scan:
                limit.check()
                entries.append((entry.name, entry.inode()))
    finally:
        os.close(descriptor)
    return entries


def _normalized(name: str) -> str:
    return unicodedata.normalize('NFC', name).casefold()
