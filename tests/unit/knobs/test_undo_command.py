"""The command that a message names for restoring a machine."""

from paribus.knobs.journals import machine_name, undo_command


def test_the_command_for_another_machine_names_it() -> None:
    assert undo_command("local") == "paribus undo"
    assert undo_command("ssh://db1") == "paribus undo --target ssh://db1"
    assert machine_name("local") == "this machine"
    assert machine_name("ssh://db1") == "ssh://db1"
