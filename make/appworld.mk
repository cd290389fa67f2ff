# AppWorld: its engine in a virtual environment of its own (it pins pydantic < 2), and the released data.
APPWORLD_VENV ?= .venv-appworld
APPWORLD_ROOT ?= $(abspath $(APPWORLD_VENV))/root
APPWORLD_ENV := MEMTRIAL_APPWORLD_VENV="$(abspath $(APPWORLD_VENV))" APPWORLD_CACHE="$(abspath $(APPWORLD_VENV))/cache"
.PHONY: appworld appworld-data

appworld: $(APPWORLD_VENV)/.made $(STAMPS)/base  ## AppWorld's engine in .venv-appworld (80 packages, 230 MB, 4 minutes), and appworld_mini
	@echo "Makes the data of appworld_mini there, once (25 s of processor time), and opens its first task."
	$(APPWORLD_ENV) $(BIN)/python -m envs.appworld.make_mini
	@$(APPWORLD_ENV) $(BIN)/python -m scripts.check env=appworld_mini || true

$(APPWORLD_VENV)/.made: requirements/appworld.txt
	@echo "Installs appworld 0.1.3.post1 and what it needs (80 packages, 230 MB) into $(APPWORLD_VENV), apart from memtrial's"
	@echo "own, and unpacks its apps. Took 4 minutes on 2 busy cores, most of it downloading. Nothing is written elsewhere."
	$(PYTHON) -m venv $(APPWORLD_VENV)
	$(APPWORLD_VENV)/bin/pip install --quiet --require-hashes -r requirements/appworld.txt
	$(APPWORLD_ENV) $(APPWORLD_VENV)/bin/appworld install
	@touch $@

appworld-data: $(APPWORLD_VENV)/.made $(STAMPS)/base  ## the released tasks (34 MB, by AppWorld's own downloader) into APPWORLD_ROOT
	@case "$(APPWORLD_ROOT)" in *memory*) echo "AppWorld breaks if the word memory stands in the path of its root:" \
	  "$(APPWORLD_ROOT). Name another: make appworld-data APPWORLD_ROOT=FOLDER"; exit 1;; esac
	@test ! -e "$(APPWORLD_ROOT)/data" || { echo "$(APPWORLD_ROOT)/data is there already and would be deleted by the" \
	  "download. Move it away to fetch it again."; exit 1; }
	@mkdir -p "$(APPWORLD_ROOT)"
	$(APPWORLD_ENV) $(APPWORLD_VENV)/bin/appworld download data --root "$(APPWORLD_ROOT)" \
	  && test -e "$(APPWORLD_ROOT)/data/datasets/test_normal.txt" || { \
	  echo "The download failed. Try again, or copy the folder data from a machine that has it to $(APPWORLD_ROOT)/data." \
	  "AppWorld's licence forbids passing it on in the clear."; exit 1; }
	@echo "Runs read it from $(APPWORLD_ROOT); if that is not the default, set APPWORLD_ROOT for them too."
	$(APPWORLD_ENV) APPWORLD_ROOT="$(APPWORLD_ROOT)" $(BIN)/python -m scripts.check env=appworld_test_normal || true
