# ALFWorld: its engine (TextWorld and a planner), and the released games.
ALFWORLD_DATA ?= $(HOME)/.cache/alfworld
.PHONY: alfworld alfworld-data

alfworld: $(STAMPS)/alfworld  ## ALFWorld's engine (30 packages, 260 MB; compiles two of them: 4 minutes; needs g++, make, cmake)

$(STAMPS)/alfworld: requirements/alfworld.txt $(STAMPS)/base
	@for tool in g++ make cmake; do command -v $$tool > /dev/null || { \
	  echo "ALFWorld's planner is compiled here and needs $$tool. On Debian: apt-get install g++ make cmake"; exit 1; }; done
	@echo "Installs alfworld, textworld, the planner fast-downward-textworld and what they need (30 packages, 260 MB, no"
	@echo "torch) into $(VENV). Two are compiled here: 4 minutes on 2 busy cores, 10 seconds once pip has them in its cache."
	CMAKE_POLICY_VERSION_MINIMUM=3.5 $(BIN)/pip install --quiet --require-hashes -r requirements/alfworld.txt
	@touch $@
	@$(BIN)/python -m scripts.check env=alfworld || true

alfworld-data: $(STAMPS)/alfworld  ## the 134 released games, by alfworld-download (GitHub) into ALFWORLD_DATA
	@echo "Runs ALFWorld's own downloader into $(ALFWORLD_DATA). It brings all splits and a detector that memtrial does not use."
	ALFWORLD_DATA="$(ALFWORLD_DATA)" $(BIN)/alfworld-download || { \
	  echo "The download failed. Try again, or copy json_2.1.1 from a machine that has it into $(ALFWORLD_DATA)."; exit 1; }
	ALFWORLD_DATA="$(ALFWORLD_DATA)" $(BIN)/python -m scripts.check env=alfworld
