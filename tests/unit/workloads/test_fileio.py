"""Keys of a file workload, their conflicts, and those that reach the engine."""

import pytest
from pydantic import ValidationError

from paribus.engine.protocol import FileioJob
from paribus.workloads.fileio import FileioKind, FileioParameters
from paribus.workloads.jobs import DataLocation


def _job(**given: object) -> FileioJob:
    return FileioKind().job(FileioParameters.model_validate(given), DataLocation(directory="/data"))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"distribution": "zipf", "mode": "seqrd"}, "distribution needs rndrd, rndwr or rndrw"),
        ({"verify": True, "mode": "seqwr"}, "use seqrewr"),
        ({"verify": True, "engine": "null"}, "verify needs an engine that does I/O"),
        ({"verify": True, "block_size": 256}, "at least 512"),
        ({"device": "/dev/sdb", "files": 4}, "set files = 1"),
        ({"device": "/dev/sdb", "mode": "seqwr"}, "use seqrewr"),
        ({"device": "sdb"}, "should match pattern"),
        ({"compressible": "120%"}, "less than or equal to 1"),
        ({"hot_part": -0.1}, "greater than or equal to 0"),
        ({"pareto_h": 0.7}, "less than or equal to 0.5"),
        ({"zipf_exponent": 0}, "greater than or equal to 0.01"),
        ({"sync_writes": "osync"}, "'none', 'dsync' or 'sync'"),
        ({"block_size": "128MiB"}, "less than or equal to 67108864"),
    ],
)
def test_conflicting_parameters_are_refused(given: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError) as error:
        FileioParameters.model_validate(given)
    assert told in str(error.value)


def test_every_parameter_reaches_the_engine() -> None:
    made = _job(
        total_size="1MiB",
        compressible="50%",
        sync_writes="dsync",
        distribution="hotspot",
        hot_part="5%",
        hot_share=0.8,
        zipf_exponent=1.2,
        pareto_h=0.1,
        fsync_call="fdatasync",
        verify=True,
        block_size="4KiB",
    )
    assert (made.data.directory, made.data.device, made.data.compressible) == ("/data", None, 0.5)
    assert (made.data.verified_block_bytes, made.io.sync_writes) == (4096, "dsync")
    access = made.access
    assert (access.distribution, access.hot_part, access.hot_share) == ("hotspot", 0.05, 0.8)
    assert (access.zipf_exponent, access.pareto_h, access.fsync_call) == (1.2, 0.1, "fdatasync")


def test_a_device_is_one_file_without_a_directory() -> None:
    data = _job(device="/dev/sdb", mode="rndrd").data
    assert (data.directory, data.device, data.files) == (None, "/dev/sdb", 1)


def test_data_of_other_content_has_another_name() -> None:
    given = ({}, {"compressible": 0.5}, {"verify": True}, {"verify": True, "block_size": 4096}, {"files": 2})
    names = [FileioKind().data(FileioParameters.model_validate(one)).shape for one in given]
    assert len(set(names)) == len(names)


def test_dumped_parameters_are_read_as_they_were() -> None:
    """A trial's parameters are those of the plan, dumped and validated anew."""
    for given in ({}, {"device": "/dev/sdb", "mode": "rndrd"}, {"verify": True, "hot_part": "10%"}):
        made = FileioParameters.model_validate(given)
        assert FileioParameters.model_validate(made.model_dump()) == made
