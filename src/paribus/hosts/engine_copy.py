"""The copy of the engine on a target: found by the hash of its content, or put there.

Two scripts for `sh` on the target. Each prints a mark before its answer, to separate it from text of a login shell.
Nothing is run from a directory that others can write to. The scripts have no line breaks, which csh does not take.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from paribus.errors import BadReply, HostError

_FIND_S, _PUSH_S = 60.0, 900.0  # a slow link takes minutes for 7 MB
_NO_ROOM = ("No space left on device", "Disk quota exceeded")
_NOT_THERE, _REFUSED, _FAILED = "absent", "unsafe", "failed"
_FOUND = "found"
_DD_SUMMARY = re.compile(r"\d+\+\d+ records|\d+ bytes")

# $1 mark, $2 name of the file, $3 its hash. Names are shown with ~ for the home directory.
_SAY = (
    "mark=$1; hash=$3; LC_ALL=C; export LC_ALL; umask 077; "
    "cache=${XDG_CACHE_HOME:-$HOME/.cache}; folder=$cache/paribus; "
    'file=$folder/$2; say() { printf "\\n%s %s\\n%s" "$mark" "$1" "$2"; exit 0; }; '
    'short() { case $1 in "$HOME"/*) printf "~%s" "${1#"$HOME"}";; *) printf %s "$1";; esac; }; '
    'bad() { say unsafe "$(short "$1") $2"; }; '
    f'say_failed() {{ say {_FAILED} "$(short "$folder"): $1"; }}; '
)
# A directory is sound if it is ours or root's, and others cannot write to it or, as to /tmp, only add to it. A group
# named after its only member counts as that user, unless an access control list is shown in its place.
_SOUND = (
    'group=""; if test "$(id -u)" != 0 && test "$(id -gn)" = "$(id -un)"; then '
    'case $(getent group "$(id -g)") in *:) group=$(id -g);; esac; fi; '
    'is() { each_is=$1; shift; test -n "$(find "$each_is" -prune -type d "(" -user "$(id -u)" -o -user 0 ")" '
    '"(" -perm -1000 -o "(" "$@" ! -perm -0002 ")" ")" 2>/dev/null)"; }; '
    'is_mine() { test -n "$group" && is "$1" -group "$group" && '
    'case $(ls -ld "$1") in ??????????+*) return 1;; esac; }; '
    'sound() { is "$1" ! -perm -0020 || is_mine "$1"; }; '
    'own() { test -n "$(find "$1" -prune -user "$(id -u)" ! -perm -0020 ! -perm -0002 2>/dev/null)"; }; '
    'check() { case $cache in /*) ;; *) bad "$cache" "is no absolute path";; esac; '
    'for each in "$cache" "$folder"; do if test -h "$each"; then bad "$each" "is a symbolic link"; '
    'elif test -e "$each" && ! test -d "$each"; then say_failed "Not a directory"; fi; done; '
    'each=$(cd -P "$(dirname "$cache")" 2>/dev/null && pwd -P); '
    'while test -n "$each" && test "$each" != /; do sound "$each" || bad "$each" "can be changed by other users"; '
    'each=$(dirname "$each"); done; '
    'if test -d "$cache"; then sound "$cache" || bad "$cache" "can be changed by other users"; fi; '
    'if test -d "$folder"; then own "$folder" || bad "$folder" "can be changed by other users"; fi; }; '
    'is_whole() { test "$(sha256sum < "$1" | cut -c1-64)" = "$hash"; }; '
    "check; "
)
# $4 is the architecture of the engine, empty where it is unknown: a home directory may be shared with other machines.
_FIND = (
    f"{_SAY}{_SOUND}machine=$(uname -m); "
    f'if test -n "$4" && test "$4" != "$machine"; then say {_NOT_THERE} "$machine"; fi; '
    'if test -f "$file" && ! test -h "$file" && test -x "$file" && own "$file" && is_whole "$file"; '
    f'then say {_FOUND} "$file"; else say {_NOT_THERE} "$machine"; fi'
)
_PUSH = (
    f'{_SAY}{_SOUND}part=$file.$$; trap \'rm -f -- "$part"\' EXIT; trap "exit 1" HUP INT TERM PIPE; '
    'words=$(mkdir -p "$folder" 2>&1) || say_failed "$words"; check; rm -f -- "$part"; '
    'words=$(dd of="$part" bs=65536 conv=fsync 2>&1) || say_failed "$words"; '
    'is_whole "$part" || say_failed "the copy is not whole"; '
    'words=$({ chmod 700 "$part" && rm -f -- "$file" && mv -- "$part" "$file"; } 2>&1) || say_failed "$words"; '
    f'say {_FOUND} "$file"'
)

# By the number in the header of a program (elf.h): the name of its architecture in `uname -m`. Those of 32 bits are not
# here: they run on machines with other names.
_ARCHITECTURES = {62: "x86_64", 183: "aarch64", 243: "riscv64"}
_HEADER_BYTES = 20

Command = Callable[[list[str], bytes, float], str]


@dataclass(frozen=True, slots=True)
class _Answer:
    kind: str
    text: str


def install(command: Command, target: str, local_engine: Path, more_engines: Sequence[Path] = ()) -> str:
    """The engine's path on the target, put there if it is missing.

    `command` runs a command on the target and returns its output. `more_engines` are those for other architectures.
    Raises HostError where it cannot be put there, or none is for the target's architecture.
    """
    engine = _Engine(local_engine)
    answer = _ask(command, target, _FIND, engine.arguments, b"", _FIND_S)
    if answer.kind == _NOT_THERE and engine.architecture not in ("", answer.text):
        engine = _of_architecture(answer.text, more_engines, target)
        answer = _ask(command, target, _FIND, engine.arguments, b"", _FIND_S)
    if answer.kind == _NOT_THERE:
        answer = _ask(command, target, _PUSH, engine.arguments, engine.content, _PUSH_S)
    if answer.kind == _FOUND and answer.text.startswith("/"):
        return answer.text
    raise _refusal(answer, target)


class _Engine:
    """An engine on this machine: its content, its architecture, and what the scripts need of it."""

    def __init__(self, path: Path) -> None:
        self.content = path.read_bytes()
        digest = hashlib.sha256(self.content).hexdigest()
        header = self.content[:_HEADER_BYTES]
        is_program = header.startswith(b"\x7fELF") and len(header) == _HEADER_BYTES
        number = int.from_bytes(header[18:], "big" if header[5] == 2 else "little") if is_program else 0
        self.architecture = _ARCHITECTURES.get(number, "")
        self.arguments = [f"paribus-engine-{digest[:16]}", digest, self.architecture]


def _of_architecture(name: str, engines: Sequence[Path], target: str) -> _Engine:
    for path in engines:
        if (engine := _Engine(path)).architecture == name:
            return engine
    raise HostError(
        f"this installation has no engine for {target}, whose architecture is {name}",
        "install Paribus from its wheel, which has engines for x86_64 and aarch64; "
        "or build one on such a machine, and name it: PARIBUS_ENGINE=/path/of/paribus-engine",
    )


def _ask(command: Command, target: str, script: str, arguments: list[str], content: bytes, timeout_s: float) -> _Answer:
    mark = f"paribus-{secrets.token_hex(8)}"
    printed = command(["sh", "-c", script, "sh", mark, *arguments], content, timeout_s)
    preceding, separator, reply = printed.partition(f"\n{mark} ")
    if not separator:
        raise BadReply(
            f"{target} did not run a command, but printed: {_excerpt(printed)}",
            f"see what this prints: ssh {target} true. A login shell or a forced command may be in the way",
        )
    if preceding.strip():
        raise BadReply(
            f"the login shell on {target} prints text before each command ({_excerpt(preceding)}); "
            "silence it for non-interactive logins",
            f"this must print nothing: ssh {target} true",
        )
    kind, _, text = reply.partition("\n")
    return _Answer(kind, text.strip())


def _excerpt(printed: str) -> str:
    line = " ".join(printed.split())
    return f'"{line[:80]}…"' if len(line) > 80 else f'"{line}"' if line else "nothing"


def _refusal(answer: _Answer, target: str) -> HostError:
    if answer.kind == _REFUSED:
        return HostError(
            f"the engine is not run from ~/.cache/paribus on {target}: {answer.text}",
            "let it be a directory of your own that only you can write to (chmod go-w), or name one: XDG_CACHE_HOME",
        )
    if answer.kind != _FAILED:
        return BadReply(f"{target} answered {_excerpt(f'{answer.kind} {answer.text}')} when asked for the engine")
    folder, _, message = answer.text.partition(": ")
    cause = next((phrase for phrase in _NO_ROOM if phrase in message), "")
    if cause:
        return HostError(f"no room for the engine in {folder} on {target} ({cause})", f"free 10 MB of it on {target}")
    causes = [line.rpartition(": ")[2] for line in message.splitlines() if not _DD_SUMMARY.match(line)]
    cause = causes[-1] if causes else "unknown cause"
    return HostError(
        f"cannot put the engine into {folder} on {target} ({cause})",
        f"make it a directory that you can write to on {target}, or name another there: XDG_CACHE_HOME",
    )
