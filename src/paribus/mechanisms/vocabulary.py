"""The closed vocabulary of mechanisms, by name."""

from collections.abc import Mapping

from paribus.mechanisms import database, memory, storage
from paribus.mechanisms.mechanism import Mechanism

MECHANISMS: Mapping[str, Mechanism] = {
    mechanism.name: mechanism
    for mechanism in (
        storage.BUFFERED_READS,
        storage.BUFFERED_WRITES,
        storage.DIRTY_LIMIT,
        storage.DEVICE_REQUESTS,
        storage.DEVICE_READS,
        storage.DEVICE_WRITES,
        storage.CONCURRENT_REQUESTS,
        storage.FULL_QUEUE,
        storage.FREE_BLOCKS,
        memory.MEMORY_RECLAIM,
        memory.SWAP_SPACE,
        memory.NUMA_NODES,
        database.COMMITS,
        database.BINARY_LOG,
        database.LOG_WRITES,
        database.PAGE_FLUSHING,
        database.BUFFER_MISSES,
        database.POOL_SIZE,
        database.REDO_LOG,
        database.CHECKPOINTS,
    )
}
