package seatbelt

import "slices"

// links are the directories that are links on macOS. The links themselves may be read.
var links = []string{"/etc", "/tmp", "/var"}

// libraries are the directories of shared libraries: the system's, its cache of them (since
// macOS 13 on a separate volume), and frameworks that Apple updates separately.
var libraries = []string{
	"/System/Library",
	"/System/Cryptexes",
	"/System/Volumes/Preboot/Cryptexes",
	"/System/iOSSupport/System/Library",
	"/Library/Apple/System/Library",
	"/Library/Apple/usr/lib",
	"/usr/lib",
	"/private/var/db/dyld",
	// The libraries of interpreters from package managers. Not their whole prefix, which
	// has their configuration and the data of databases.
	"/opt/homebrew/Cellar", "/opt/homebrew/opt", "/opt/homebrew/lib", "/opt/homebrew/Frameworks",
	"/usr/local/Cellar", "/usr/local/opt", "/usr/local/lib", "/usr/local/Frameworks",
	"/opt/local/lib", "/opt/local/Library/Frameworks",
}

// data are files that the same libraries read: time zones, locales, certificates.
var data = []string{
	"/usr/share",
	"/private/etc/localtime",
	"/private/etc/protocols",
	"/private/etc/services",
	"/private/etc/ssl",
	"/private/var/db/timezone",
	"/opt/homebrew/etc/ca-certificates", "/opt/homebrew/etc/openssl@3", "/opt/homebrew/share",
	"/usr/local/etc/ca-certificates", "/usr/local/etc/openssl@3", "/usr/local/share",
}

// devices are harmless. /dev/null can be written to as well.
var devices = []string{"/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"}

// programs are the directories of programs for commands, including the developer tools: git,
// make and the compilers in /usr/bin only start those.
var programs = []string{
	"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/libexec",
	"/usr/local/bin", "/usr/local/Cellar", "/usr/local/opt", "/usr/local/libexec", "/usr/local/include",
	"/opt/homebrew/bin", "/opt/homebrew/sbin", "/opt/homebrew/Cellar", "/opt/homebrew/opt", "/opt/homebrew/libexec", "/opt/homebrew/include",
	"/opt/local/bin", "/opt/local/libexec", "/opt/local/include",
	"/Library/Developer/CommandLineTools",
	"/Applications/Xcode.app/Contents",
	"/Library/Frameworks",
}

// programFiles select one of several programs: the shell for /bin/sh, and the developer
// tools.
var programFiles = []string{
	"/private/var/select/sh", "/private/var/select/developer_dir", "/private/var/db/xcode_select_link",
	"/private/etc/shells", "/private/etc/paths",
}

// SystemDirectories returns the directories of programs and libraries for commands.
func SystemDirectories() []string {
	return slices.Concat(programs, libraries, data, programFiles)
}

// Path returns the PATH of a command, unless its request sets one.
func Path() []string {
	return []string{"/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"}
}

// sysctls are read by language runtimes at their start, and by uname, which reveals the host
// name; without it half of Python's library does not load. Excluded: kern.proc, which lists the
// processes of all users with their arguments.
var sysctls = []string{
	"hw.activecpu", "hw.byteorder", "hw.cachelinesize", "hw.cachelinesize_compat", "hw.cpufamily", "hw.cpusubtype", "hw.cputype",
	"hw.l1dcachesize_compat", "hw.l1icachesize_compat", "hw.l2cachesize_compat", "hw.l3cachesize_compat",
	"hw.logicalcpu", "hw.logicalcpu_max", "hw.machine", "hw.memsize", "hw.ncpu", "hw.nperflevels", "hw.packages",
	"hw.pagesize", "hw.pagesize_compat", "hw.physicalcpu", "hw.physicalcpu_max", "hw.tbfrequency", "hw.tbfrequency_compat", "hw.vectorunit",
	"kern.argmax", "kern.hostname", "kern.iossupportversion", "kern.maxfilesperproc", "kern.osproductversion", "kern.osrelease",
	"kern.ostype", "kern.osvariant_status", "kern.osversion", "kern.secure_kernel", "kern.usrstack64", "kern.version",
	"machdep.cpu.brand_string", "sysctl.proc_cputype", "sysctl.proc_native", "vm.loadavg",
}

var sysctlPrefixes = []string{"hw.optional.", "hw.perflevel"}

// commandServices are for programs that look up users. Scripts do not need any.
var commandServices = []string{"com.apple.system.opendirectoryd.libinfo"}

// networkServices are for processes that may use the host's network: name resolution,
// network settings, and certificates.
var networkServices = []string{
	"com.apple.SystemConfiguration.configd", "com.apple.SystemConfiguration.DNSConfiguration", "com.apple.dnssd.service",
	"com.apple.trustd", "com.apple.trustd.agent",
}

var networkFiles = []string{"/private/etc/hosts", "/private/etc/resolv.conf", "/private/var/run/resolv.conf"}
