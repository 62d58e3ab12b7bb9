# make -f tools/recipes/corpus.mk -j 8 IN=corpus.en OUT=corpus.de [N=64] [FLAGS=--model=opus-mt-en-de]: translates the N
# parts of IN, and joins them. Run again, make translates what is missing. The names must not have blanks.
NIBU_TRANSLATE ?= $(firstword $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))../../build/release/bin/nibu-translate) nibu-translate)
N ?= 64
ifneq ($(words $(IN) $(OUT)),2)
$(error IN and OUT must each be one name without blanks)
endif
# Other flags have another folder.
folder := $(OUT).parts/$(shell printf '%s' '$(N) $(FLAGS)' | cksum | cut -d ' ' -f 1)
parts := $(addprefix $(folder)/,$(shell seq $(N)))

$(OUT): $(parts)
	cd '$(folder)' && cat $(notdir $^) >joined
	mv '$(folder)/joined' '$@'

$(parts): $(IN)
	@mkdir -p '$(@D)'
	'$(NIBU_TRANSLATE)' --src='$<' --shard=$(@F)/$(N) --out='$@' --resume --threads=1 $(FLAGS)
