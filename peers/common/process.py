"""Facts about this process from /proc."""


def allocator_name():
    """Whose malloc this process uses: that of a preloaded library, else the C library's."""
    with open("/proc/self/maps") as maps:
        loaded = maps.read()
    return next((name for name in ("jemalloc", "tcmalloc") if "lib" + name in loaded), "libc")


def status_bytes(field):
    """A size of /proc/self/status, e.g. VmRSS or VmHWM."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return 1024 * int(line.split()[1])
    return 0
