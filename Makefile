# Builds the engine under the name that match servers such as OpenBench give: make EXE=NAME
# With EVALFILE=FILE it plays with the net in that file, which `dc0-run export evalfile` writes.
EXE ?= dc0
EVALFILE ?=

.PHONY: all
all:
	cargo xtask setup
	cargo build --release --workspace --bin dc0-run
ifeq ($(EVALFILE),)
	cp target/release/dc0-run $(EXE)
else
	target/release/dc0-run export engine $(EVALFILE) --out $(EXE)
endif
