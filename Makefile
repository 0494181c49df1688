# Builds the engine under the name that match servers such as OpenBench give: make EXE=NAME
EXE ?= dc0

.PHONY: all
all:
	cargo xtask setup
	cargo build --release --workspace --bin dc0-run
	cp target/release/dc0-run $(EXE)
