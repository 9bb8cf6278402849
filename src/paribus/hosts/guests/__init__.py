"""Virtual machines of libvirt: their hypervisor's address, their definition and their disks.

In: a host and a libvirt URI. Out: domains as libvirt describes them. Called by the inspection of a plan's target.
"""
