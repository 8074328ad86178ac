# attack: open the kernel's memory, log, ports and raw disks in /dev
# class: 10
# walls: mount landlock uid
# gvisor: gVisor's own /dev
# naked: root

import glob

def attempt():
    disks = glob.glob("/dev/[svx]d[a-z]") + glob.glob("/dev/nvme?n?") + glob.glob("/dev/dm-*") + glob.glob("/dev/loop0")
    names = ["/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/vda"] + disks
    def route(path):
        def opens():
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            return "opened " + path
        return opens
    return any_of(*map(route, names))

result = judged(attempt)
