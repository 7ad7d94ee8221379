# SPDX-License-Identifier: GPL-2.0-or-later
# Targets of the project. Each part builds itself; this file only orders them.
#   make                   the module for KDIR, and the tools    make demo         the published effect, in the lab (FRESH=1: run again)
#   make modules           raidtrace.ko                          make tools        raidctl, in tools/bin
#   make quick             tests of a minute, without a kernel   make check        build and test everything
#   make lint             a part of check                    make check-verbs  the verbs with the standard library of Python only
#   make check-long        longer tests: Linux 7.3, kernels that check themselves, more seeds
#   make check-vm          the module on Debian's own kernels in QEMU
#   make check-causes-vm   explain against real drivers in QEMU, disks with known limits (ten minutes)
#   make check-html        the report in a browser               make check-exporter   a real Prometheus
#   make check-bare        installation with secure boot         make check-kernels    distributions' kernels
#   make check-first       the first recording in a minimal Debian, timed
#   make check-packages    installation from packages
#   make battery           explain against known causes, and measured (hours; SEEDS=100-103)
#   make battery-why       raidctl why against known causes (in the lab, an hour)
#   make battery-here      explain against known causes on this machine's disk, without the module (half an hour)
#   make board             published changes of the kernel, judged by lab ab (an hour)
#   make bisect-demo       git bisect finds a slow commit
#   make reproduce         the 28 tests of the white paper of 2004, in the lab (an hour, can be interrupted)
#   make misconceptions    the paper's eight misconceptions, in the lab and a virtual machine (some minutes)
#   make farm SECONDS=3600   random histories of disks, compared with the controller's log
#   make kcsan SECONDS=600   data races of the module on two processors, in QEMU; its kernel is built once, half an hour
#   make soak              5,000 cycles on kernels that check themselves
#   make kills, make sweep-kills, make why-kills   killed recorders, sweeps, experiments
#   make sanitize          raidctl with sanitizers and in valgrind (an hour)
#   make mutate            errors that unit tests must notice
#   make bench             cost of counting a request            make bench-lab    cost of the lab
#   make bench-record      cost of recording 16 disks            make bench-import   import compared with blkparse and btt
#   make bench-door        limits of counting by BPF programs
#   make figures           pictures of the documentation         make html         the documentation as pages, in build/html
#   make deb, make rpm     packages of the last commit, in build/deb and build/rpm
#   make install           tools, and the module if there are headers, below DESTDIR and PREFIX      make uninstall, make clean

KERNEL  ?= $(shell uname -r)
KDIR    ?= /lib/modules/$(KERNEL)/build
PREFIX  ?= /usr/local
DESTDIR ?=
OUT     ?= demo-out
# Further options and names for the program of a target
ARGS    ?=

.PHONY: all modules tools quick clean install uninstall html figures
.PHONY: demo reproduce misconceptions board farm kcsan battery battery-why battery-here
.PHONY: check check-long check-verbs check-vm check-causes-vm check-html check-packages check-first check-bare check-kernels check-exporter lint
.PHONY: sweep-kills why-kills kills soak sanitize mutate
.PHONY: bench bench-lab bench-record bench-door bench-import bisect-demo
.PHONY: deb rpm
.DEFAULT_GOAL := all

all: tools modules

modules:
	@test -e $(KDIR)/Makefile || { \
		echo "make: no kernel headers at $(KDIR)." >&2; \
		echo "  They are what a module is built against. Install linux-headers-$(KERNEL), or name others: make KDIR=DIR" >&2; \
		echo "  Without hardware, or without headers: make demo" >&2; \
		exit 1; }
	@tools/setup build
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

tools:
	@tools/setup build
	@$(MAKE) --no-print-directory -C tools

demo:
	@tools/setup demo
	@$(MAKE) --no-print-directory -s -C tools
	@tools/bin/raidctl demo --out $(OUT) $(if $(FRESH),--fresh)

reproduce:
	@tools/setup demo
	@$(MAKE) --no-print-directory -s -C tools
	@tools/paper-2004/reproduce --out reproduce-out $(ARGS)

figures:
	@tools/setup demo
	@$(MAKE) --no-print-directory -s -C tools
	@tools/paper-2004/figures --out figures-out $(ARGS)

misconceptions:
	@tools/setup demo
	@tools/setup vm
	@$(MAKE) --no-print-directory -s -C tools
	@tools/paper-2004/misconceptions $(ARGS)

quick:
	@tools/setup check
	@tests/quick

check:
	@tools/setup check
	@tests/run $(ARGS)

check-long:
	@tools/setup check
	@tests/run --long $(ARGS)

check-vm: tools
	@tools/setup vm
	@tests/vm/run $(ARGS)

check-causes-vm: tools
	@tools/setup vm
	@tests/battery/machine $(ARGS)

check-html: tools
	@tools/setup html
	@tests/html/run $(ARGS)

battery-here: tools
	@tools/setup check
	@tests/battery/here $(ARGS)

battery-why: tools
	@tools/setup demo
	@tests/lab/lab-why.py $(or $(ARGS),all)

bench-lab: tools
	@tools/setup demo
	@tests/bench/lab $(ARGS)

SECONDS ?= 600
farm: tools
	@tools/setup lab
	@tests/lab/lab-farm.py $(or $(ARGS),--seconds $(SECONDS)) --jobs $$(nproc)

kcsan: tools
	@tools/setup vm
	@tests/vm/kcsan --seconds $(SECONDS) $(ARGS)

board: tools
	@tools/setup lab
	@tests/board/run $(ARGS)

bisect-demo: tools
	@tools/setup lab
	@tests/lab/bisect/run $(ARGS)

bench-record: tools
	@tools/setup vm
	@tests/bench/sampling $(ARGS)

bench-door: tools
	@tools/setup $(if $(findstring here,$(ARGS)),check,vm)
	@tests/bench/door $(ARGS)

bench-import: tools
	@tools/setup check
	@tests/bench/import $(ARGS)

bench: tools
	@tools/setup check
	@$(if $(ARGS),,tests/ring/run --bench)
	@tests/bench/cost/run $(ARGS)

SOAK_KERNELS ?= 6.12
SOAK_VARIANT ?= sanitize
SOAK_CYCLES  ?= 5000
IN_LAB = tools/bin/raidctl lab run --host --timeout 7200 --mem 512M
soak: tools
	@tools/setup check
	@for kernel in $(SOAK_KERNELS); do echo "$$kernel, $(SOAK_VARIANT)" && tests/lab/lab-detectors.py $$kernel $(SOAK_VARIANT) && \
		$(IN_LAB) --kernel $$kernel --variant $(SOAK_VARIANT) --out check-out/soak-$$kernel -- \
		$(CURDIR)/tests/lab/kmod-soak.py $(SOAK_CYCLES) || exit 1; done

# SEEDS: which; recordings of a seed that are there already are kept
SEEDS ?= 100-119
battery: tools
	@tools/setup demo
	@tests/battery/battery --seeds $(SEEDS) $(ARGS)

mutate:
	@tools/setup check
	@tests/kunit/run --mutants $(or $(ARGS),1)

sanitize: tools
	@tools/setup check
	@tests/sanitize/run $(ARGS)

kills: tools
	@tools/setup check
	@tools/bin/raidctl lab run --host --mem 320M --timeout 7200 --out check-out/kills -- $(CURDIR)/tests/lab/ctl-kills $(or $(ARGS),all calls times sleep enomem client)

KILLS ?= 100
# LAB=vm: on a distribution's kernel. SWEEP_FIRST and SWEEP_LAST: a part of the KILLS; SWEEP_ONLY=kills: nothing else; SWEEP_SECONDS
sweep-kills: tools
	@tools/setup check
	@$(if $(filter vm,$(LAB)),tools/setup vm)
	@tools/bin/raidctl lab run -q --host --mem $(if $(filter vm,$(LAB)),1G,192M) --timeout 7200 --env SWEEP_KILLS=$(KILLS) \
		$(foreach name,SWEEP_FIRST SWEEP_LAST SWEEP_ONLY SWEEP_SECONDS,$(if $($(name)),--env $(name)=$($(name)))) --out check-out/sweep-kills -- \
		$(CURDIR)/tests/lab/ctl-sweep

# LAB=vm: on a distribution's kernel. WHY_FIRST and WHY_LAST: a part of the KILLS; WHY_ONLY=kills: nothing else; WHY_SECONDS
why-kills: tools
	@tools/setup check
	@$(if $(filter vm,$(LAB)),tools/setup vm)
	@tools/bin/raidctl lab run -q $(if $(filter vm,$(LAB)),--host --mem 1G,--mem 192M) --timeout 7200 --env WHY_KILLS=$(KILLS) \
		$(foreach name,WHY_FIRST WHY_LAST WHY_ONLY WHY_SECONDS,$(if $($(name)),--env $(name)=$($(name)))) --out check-out/why-kills -- \
		$(CURDIR)/tests/lab/ctl-why

lint: tools
	@tools/setup check
	@tests/lint/run $(ARGS)

html:
	@tools/setup check
	@sphinx-build -q -W --keep-going -b html Documentation build/html && echo build/html/index.html

install: tools $(if $(wildcard $(KDIR)/Makefile),modules)
	$(MAKE) -C tools install PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	@if test -e $(KDIR)/Makefile; then $(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(DESTDIR) modules_install; \
	else echo "installed without raidtrace.ko: no kernel headers at $(KDIR)"; fi

# Also the module of each kernel that make install built; not that of DKMS, which dkms remove deletes.
uninstall:
	$(MAKE) -C tools uninstall PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	find $(DESTDIR)/lib/modules/*/updates $(DESTDIR)/lib/modules/*/extra ! -path '*/dkms/*' \
		-name 'raidtrace.ko*' -delete 2>/dev/null || :
	$(if $(DESTDIR),,depmod)

# The packages of the last commit, in build/deb; of the files as they are: dpkg-buildpackage -b
deb:
	@tools/setup deb
	@rm -rf build/deb && mkdir -p build/deb/raidtrace
	@git archive HEAD | tar -x -C build/deb/raidtrace
	@build/deb/raidtrace/packaging/lab-kernel build/deb
	@cd build/deb/raidtrace && dpkg-buildpackage -us -uc && lintian --fail-on error,warning --tag-display-limit 0 ../*.changes
	@rm -rf build/deb/raidtrace && ls build/deb/*.deb

# The packages in a Debian without the checkout; as root, some minutes.
check-packages: tools
	@tools/setup chroot
	@tests/install/chroot $(ARGS)

# In a root that has nothing else: tests/hosts/run bookworm trixie -- make check-verbs
check-verbs: tools
	@tests/verbs/run

# The first recording of this machine's disk, in a Debian that has nothing else; as root, a minute.
check-first: tools
	@tools/setup chroot
	@tests/install/first $(ARGS)

# And on Debian 12 and 13 with secure boot, in QEMU; as root, an hour.
check-bare: tools
	@tools/setup chroot
	@tests/install/bare --apt-outside $(ARGS)

# The module against every kernel of Debian's suites, and booted there; as root, some hours.
check-kernels: tools
	@tools/setup vm
	@tools/setup chroot
	@tests/kernels/run --boot $(ARGS)

# A real Prometheus scrapes raidctl exporter; its own tools check the alerts.
check-exporter: tools
	@tools/setup demo
	@tests/exporter/run --prometheus

rpm:
	@tools/setup rpm
	@packaging/rpm

clean:
	@if test -e $(KDIR)/Makefile; then $(MAKE) -s -C $(KDIR) M=$(CURDIR) clean; fi
	@$(MAKE) --no-print-directory -C tools clean
	rm -rf build demo-out reproduce-out misconceptions-out figures-out check-out
	find tools tests -name __pycache__ -type d -prune -exec rm -rf {} +
