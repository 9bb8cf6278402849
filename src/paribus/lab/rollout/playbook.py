"""Playbooks of Ansible for a change: one that makes it, and one that takes it back.

Strings are JSON, which is YAML too. A setting is written by its own line between two readings, so that a task reports
a change only where there was one.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paribus.errors import UsageError
from paribus.knobs.kinds.startup import appended_lines
from paribus.lab.rollout.change import ChangeStep, ProductionChange

_HOST = re.compile(r"[A-Za-z0-9._-]+")
_RESTART = "Restart the database server"
_MYSQL = "{{ mysql_client | default('mysql') }} --batch --skip-column-names --execute"
_PSQL = "psql --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 --command"
Task = Mapping[str, Any]


def playbook(change: ProductionChange) -> str:
    """The playbook that makes the change and keeps it."""
    tasks = [task for step in change.steps if not step.by_hand for task in _tasks(step, change, present=True)]
    reminders = [_reminder(step, step.set) for step in change.steps if step.by_hand]
    return _play(f"Set what the experiment {change.experiment} found better", change, [*tasks, *reminders])


def rollback(change: ProductionChange) -> str:
    """The playbook that takes the change back."""
    steps = list(reversed(change.steps))
    tasks = [task for step in steps if not step.by_hand for task in _tasks(step, change, present=False)]
    reminders = [_reminder(step, step.roll_back or _by_hand(step)) for step in steps if step.by_hand]
    return _play(f"Take back what was set for the experiment {change.experiment}", change, [*tasks, *reminders])


def _tasks(step: ChangeStep, change: ProductionChange, *, present: bool) -> Iterator[Task]:
    family = step.knob.partition(".")[0]
    if not present and not step.roll_back:
        yield _reminder(step, _by_hand(step))
    elif family == "mysql":
        yield from _mysql(step, change, present=present)
    elif family == "postgres":
        yield from _postgres(step, present=present)
    else:
        line, value = (step.set, step.after) if present else (step.roll_back, step.before)
        yield _between_readings(f"Set {step.knob} to {value}", _data(step.check), _data(line))
        yield from _lasting(step, present=present)


def _between_readings(name: str, reading: str, line: str) -> Task:
    """A line between two readings; it is a change where these differ."""
    script = f'before=$({reading}\n)\n{line}\nafter=$({reading}\n)\ntest "$before" = "$after" || echo changed\n'
    return {
        "name": _data(name),
        "ansible.builtin.shell": {"cmd": f"set -eu\n{script}"},
        "register": "paribus_result",
        "changed_when": "'changed' in paribus_result.stdout_lines",
    }


def _lasting(step: ChangeStep, *, present: bool) -> Iterator[Task]:
    """The lines that keep it after the next start; a reminder where a person must write them."""
    lines = appended_lines(step.keep)
    if not lines and step.keep and not step.keep.startswith("#"):
        yield _reminder(step, step.keep if present else f"remove: {step.keep}")
    for path, line in lines:
        file = {"path": path, "line": _data(line), "state": "present" if present else "absent"}
        yield {
            "name": f"Keep {step.knob} after the next start" if present else f"Do not keep {step.knob}",
            "ansible.builtin.lineinfile": file | ({"create": True, "mode": "0644"} if present else {}),
        }


def _mysql(step: ChangeStep, change: ProductionChange, *, present: bool) -> Iterator[Task]:
    """The server that runs, where it takes the variable at once; then the configuration."""
    name = step.knob.partition(".")[2]
    is_live = step.set.startswith("SET GLOBAL")
    statement = step.set if present else step.roll_back
    if is_live:
        texts = (f"SELECT @@GLOBAL.{name}", statement.rstrip(";"))
        reading, line = (f"{_MYSQL} {_data(shlex.quote(text))}" for text in texts)
        yield _between_readings(f"Set {name} in the server that runs", reading, line)
    else:
        yield from _restart_reminder(name)
    folder = "mariadb.conf.d" if change.database == "mariadb" else "conf.d"
    path = f"{{{{ mysql_configuration | default('/etc/mysql/{folder}/90-paribus.cnf') }}}}"
    content = (
        {"block": _data(f"[mysqld]\n{name} = {step.after}"), "create": True, "mode": "0644"}
        if present
        else {"state": "absent"}
    )
    yield {
        "name": f"{'Write' if present else 'Remove'} {name} in the configuration",
        "ansible.builtin.blockinfile": {"path": path, "marker": f"# {{mark}} {name}, by paribus ticket"} | content,
        **({} if is_live else {"notify": _RESTART}),
    }


def _postgres(step: ChangeStep, *, present: bool) -> Iterator[Task]:
    name = step.knob.partition(".")[2]
    literal = str(step.after).replace("'", "''")
    statement = f"ALTER SYSTEM SET {name} = '{literal}'" if present else f"ALTER SYSTEM RESET {name}"
    reading, line = (f"{_PSQL} {_data(shlex.quote(text))}" for text in (f"SHOW {name}", statement))
    line += " --command 'SELECT pg_reload_conf()'"
    task = _between_readings(f"{'Set' if present else 'Reset'} {name}", reading, line)
    needs_restart = step.takes_effect == "restart"
    yield {**task, "become_user": "postgres", **({"notify": _RESTART} if needs_restart else {})}
    if needs_restart:
        yield from _restart_reminder(name)


def _restart_reminder(name: str) -> Iterator[Task]:
    """A reminder for those who do not let the playbook restart the server."""
    yield {
        "name": f"Remind of the restart that {name} needs",
        "ansible.builtin.debug": {"msg": f"{name} is in force after the next start: -e restart_database=true"},
        "when": "not (restart_database | default(false) | bool)",
    }


def _by_hand(step: ChangeStep) -> str:
    before = "which was not recorded" if step.before is None else f"which was {step.before}"
    return f"restore {step.knob} by hand to its value before, {before}"


def _reminder(step: ChangeStep, line: str) -> Task:
    return {"name": f"Remind of {step.knob}, by hand", "ansible.builtin.debug": {"msg": _data(line)}}


def _data(text: str) -> str:
    """Text that Ansible's templates leave as it is. Raises UsageError where it would end the part without templates."""
    if not any(mark in text for mark in ("{{", "{%", "{#")):
        return text
    if "endraw" in text:
        raise UsageError(f"{text!r} cannot be written into a playbook", "rename what holds it, or use the runbook")
    return f"{{% raw %}}{text}{{% endraw %}}"


def _play(name: str, change: ProductionChange, tasks: Sequence[Task]) -> str:
    """The play as YAML; the server is restarted only where `restart_database` says so."""
    is_notified = any("notify" in task for task in tasks)
    handler = {
        "name": _RESTART,
        "ansible.builtin.service": {"name": "{{ database_service }}", "state": "restarted"},
        "when": "restart_database | default(false) | bool",
    }
    play: dict[str, Any] = {
        "name": name,
        "hosts": f"{{{{ target | default('{change.host}') }}}}" if _HOST.fullmatch(change.host) else "{{ target }}",
        "become": True,
        "gather_facts": False,
        "tasks": list(tasks),
        **({"handlers": [handler]} if is_notified else {}),
    }
    return "---\n" + "\n".join(_yaml([play], 0)) + "\n"


def _yaml(value: object, indent: int) -> Iterator[str]:
    """Lines of block style; texts are quoted as in JSON, those of several lines are literal blocks."""
    pad = " " * indent
    if isinstance(value, list):
        for entry in value:
            first, *more = _yaml(entry, indent + 2)
            yield f"{pad}- {first.lstrip()}"
            yield from more
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            if isinstance(entry, Mapping | list):
                yield f"{pad}{key}:"
                yield from _yaml(entry, indent + 2)
            elif isinstance(entry, str) and "\n" in entry:
                yield f"{pad}{key}: |"
                yield from (f"{pad}  {line}" for line in entry.rstrip("\n").split("\n"))
            else:
                yield f"{pad}{key}: {json.dumps(entry, ensure_ascii=False)}"
    else:
        yield f"{pad}{json.dumps(value, ensure_ascii=False)}"
