# WebArena: BrowserGym, a browser, and the tokenizer's data of the evaluators. Nothing is downloaded at run time.
.PHONY: webarena

webarena: $(STAMPS)/webarena  ## BrowserGym, a Chromium and NLTK's data for WebArena (75 packages, 450 MB and a browser: 4 minutes; Python 3.11 or 3.12)

# text-generation, which the benchmark's package names but does not need here, asks for an older huggingface-hub
# than the base installation has: the versions are resolved beforehand, and pip is told not to look.
$(STAMPS)/webarena: requirements/webarena.txt make/webarena.mk $(STAMPS)/base
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' || { \
	  echo "BrowserGym's Playwright needs Python 3.11 or 3.12. Remedy: make clean; make PYTHON=python3.11 webarena"; exit 1; }
	@echo "Installs browsergym-webarena, playwright 1.44, transformers, nltk and what they need (75 packages, 450 MB, no"
	@echo "torch) into $(VENV), and a Chromium: Debian's by apt-get if you are root, else the one on PATH, else npm's"
	@echo "@sparticuz/chromium (200 MB) into $(VENV). It took 4 minutes on 2 busy cores."
	$(BIN)/pip install --quiet --no-deps --require-hashes -r requirements/webarena.txt
	@browser=$$(command -v chromium || command -v chromium-browser || command -v google-chrome || true); \
	if [ -z "$$browser" ] && command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } > /dev/null \
	    && browser=$$(command -v chromium) || true; \
	fi; \
	if [ -z "$$browser" ] && command -v npm > /dev/null && command -v node > /dev/null; then \
	  mkdir -p $(VENV)/share/webarena/npm; \
	  npm install --silent --no-audit --no-fund --prefix $(VENV)/share/webarena/npm @sparticuz/chromium@147.0.0; \
	  browser=$$(cd $(VENV)/share/webarena/npm && TMPDIR=$$PWD node --input-type=module \
	    -e 'const c = (await import("@sparticuz/chromium")).default; console.log(await c.executablePath());'); \
	fi; \
	if [ -z "$$browser" ]; then \
	  echo "No browser. As root on Debian: apt-get install chromium; or put Chromium, or npm and node, on PATH."; exit 1; \
	fi; \
	$(BIN)/python -m envs.webarena.prepare "$$browser"
	@touch $@
	@$(BIN)/python -m scripts.check env=webarena_mini || true
