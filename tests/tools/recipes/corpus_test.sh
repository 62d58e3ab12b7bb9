#!/usr/bin/env bash
# corpus_test.sh ENGINE NIBU_TRANSLATE CAPTIONS_MODEL [PYTHON PACKAGES]: a corpus is translated by the recipe of an engine
# (parallel, pipe, make, slurm, dask), with the real program. Workers are killed in the middle, and the result is, byte for
# byte, that of one run of nibu-translate. 77 (skipped) without the engine.
# shellcheck disable=SC2015
set -euo pipefail
engine=$1 nibu=$2 model=$3
recipes=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../tools/recipes" && pwd)
texts=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../testdata" && pwd)/multi30k.en
tmp=$(mktemp -d)
daemons=()
clean_up() {
  [ -z "${SLURM_CONF:-}" ] || scancel --quiet --user="$(id -un)" 2>/dev/null || true
  for pid in "${daemons[@]}" $(cat "$tmp"/held/* 2>/dev/null); do kill -9 "$pid" 2>/dev/null || true; done
  { wait; } 2>/dev/null  # without a line for each that was killed
  rm -rf "$tmp"
}
trap clean_up EXIT
fail() { tail -n 20 "$tmp"/*.log >&2 || true; echo "corpus_test.sh: $engine: $1" >&2; exit 1; }
need() {  # COMMAND PACKAGE
  command -v "$1" >/dev/null || { echo "skipped: corpus $engine: there is no $1 (apt-get install $2)"; exit 77; }
}
wait_for() {  # SECONDS COMMAND...: until the command succeeds
  local end=$((SECONDS + $1))
  until "${@:2}"; do [ "$SECONDS" -lt "$end" ] || fail "waited $1 seconds for: ${*:2}"; sleep 0.05; done
}
same() { cmp "$1" "$tmp/want" || fail "$1 is not what one run gives"; }

# The corpus, with lines that need care, and a name that does, too: 3,000 lines of two sentences.
work="$tmp/a 'corpus' {} \$x"
[ "$engine" != make ] || work=$tmp/corpus
mkdir "$work" "$tmp/held" "$tmp/seen"
in=$work/in.txt out=$work/out.txt flags=(--model="$model" --beam_size=1)
for ((i = 1; i <= 20; ++i)); do
  paste -d ' ' "$texts" <(tail -n +$((3 * i)) "$texts"; head -n $((3 * i - 1)) "$texts")
  printf '\n\n  \nA dog runs.\r\n'
  [ "$engine" = dask ] || printf 'A \xff dog\rsleeps.\n'
done >"$in"
printf 'A man sings.' >>"$in"
"$nibu" "${flags[@]}" --src="$in" --out="$tmp/want"

# nibu-translate that stops in the middle, until it is killed or told to end, where it begins one of the parts $HELD for
# the first time; without --out, after the first lines of the first input that it gets. $tmp/calls says what it began.
cat >"$tmp/nibu-translate" <<'END'
#!/usr/bin/env bash
out='' part=''
for flag; do
  [[ $flag != --out=* ]] || out=${flag#--out=}
  [[ $flag != --shard=* ]] || part=${flag#--shard=} part=${part%/*}
done
[[ " $* " != *" --resume "* ]] || [ ! -s "$out.part" ] || goes_on=" goes on"
echo "$part${goes_on:-}" >>"$TMP/calls"
[[ " $HELD " = *" ${part:-input} "* ]] && mkdir "$TMP/seen/${part:-input}" 2>/dev/null || exec "$NIBU" "$@"
if [ -n "$part" ]; then
  "$NIBU" "$@" & pid=$!
  until [ -s "$out.part" ] || ! kill -0 $pid; do sleep 0.01; done
  kill -STOP $pid
else
  exec 3<&0
  "$NIBU" "$@" < <(head -n 20 <&3; tail -f --pid=$$ /dev/null) & pid=$!
fi
trap 'kill -TERM $pid; kill -CONT $pid' TERM
echo $pid >"$TMP/held/.new" && mv "$TMP/held/.new" "$TMP/held/${part:-input}"
wait $pid || wait $pid
END
chmod +x "$tmp/nibu-translate"
export NIBU_TRANSLATE="$tmp/nibu-translate" NIBU="$nibu" TMP="$tmp" HELD="2 3"

kill_held() {  # PART...: when all are held
  local part
  for part; do wait_for 120 [ -e "$tmp/held/$part" ]; done
  for part; do
    kill -9 "$(cat "$tmp/held/$part")"
    rm "$tmp/held/$part"
  done
}
began() { cat "$tmp/calls" >>"$tmp/calls.log"; sort "$tmp/calls" | xargs; rm "$tmp/calls"; }
expect() { [ "$1" = "$2" ] || fail "expected: $2; but it was: $1"; }

# Runs the command twice. In the first run, which fails, the workers of two parts are killed; the second one does the rest.
interrupted_twice() {  # PARTS_OF_FIRST_RUN PARTS_OF_SECOND_RUN COMMAND...
  "${@:3}" >"$tmp/first.log" 2>&1 & local pid=$!
  kill_held 2 3
  ! wait $pid || fail "it should have failed"
  [ ! -e "$out" ] || fail "there is a result that is not whole"
  expect "$(began)" "$1"
  "${@:3}" >"$tmp/second.log" 2>&1 || fail "the second run failed"
  expect "$(began)" "$2"
  same "$out"
}

case $engine in
  parallel)
    need parallel parallel
    export SHARDS=10
    run() { PARALLEL="--jobs 2 $1" "$recipes/corpus_parallel.sh" "$in" "$out" "${flags[@]}"; }
    interrupted_twice "1 10 2 3 4 5 6 7 8 9" "2 goes on 3 goes on" run ""
    [ ! -e "$out.parts" ] || fail "parts are left"
    # parallel itself repeats what was killed.
    rm -r "$out" "$tmp"/seen/*
    run "--retries 2" >"$tmp/third.log" 2>&1 & pid=$!
    kill_held 2 3
    wait $pid || fail "--retries does not help"
    expect "$(began)" "1 10 2 2 goes on 3 3 goes on 4 5 6 7 8 9"
    same "$out"
    # Other flags do not find parts of the first ones. Everything is killed at once.
    rm -r "$out" "$tmp"/seen/*
    set -m
    run "" >"$tmp/fourth.log" 2>&1 & pid=$!
    set +m
    wait_for 120 [ -e "$tmp/held/3" ]
    kill -9 -- -$pid
    wait $pid 2>/dev/null || true
    kill_held 2 3 2>/dev/null || true  # those that still live
    expect "$(began)" "1 2 3"
    flags+=(--nosplit_sentences)
    run "" >"$tmp/fifth.log" 2>&1
    expect "$(began)" "1 10 2 3 4 5 6 7 8 9"
    "$nibu" "${flags[@]}" --src="$in" --out="$tmp/want"
    same "$out" ;;

  make)
    need make make
    interrupted_twice "1 2 3" "10 2 goes on 3 goes on 4 5 6 7 8 9" \
      make -j 2 -f "$recipes/corpus.mk" IN="$in" OUT="$out" N=10 FLAGS="${flags[*]}"
    expect "$(make -f "$recipes/corpus.mk" IN="$in" OUT="$out" N=10 FLAGS="${flags[*]}")" "make: '$out' is up to date." ;;

  pipe)
    need parallel parallel
    export HELD=input
    BLOCK=60k PARALLEL="--jobs 2" "$recipes/corpus_pipe.sh" "${flags[@]}" <"$in" >"$out" 2>"$tmp/pipe.log" & pid=$!
    kill_held input
    wait $pid || fail "it should have repeated the block"
    [ "$(wc -l <"$tmp/calls")" -gt 5 ] || fail "there were no blocks"
    same "$out"
    # What Spark, Beam and Hadoop streaming expect of a program: a line for a line, before the next one comes.
    export LC_ALL=C
    coproc "$nibu" "${flags[@]}" 2>"$tmp/coprocess.log"
    pid=$COPROC_PID
    while IFS= read -r line; do
      printf '%s\n' "$line" >&"${COPROC[1]}"
      IFS= read -r -t 60 line <&"${COPROC[0]}" || fail "there is no line for $line"
      printf '%s\n' "$line"
    done < <(head -n 400 "$in") >"$tmp/lines"
    cmp "$tmp/lines" <(head -n 400 "$tmp/want") || fail "a coprocess gives something else"
    eval "exec ${COPROC[1]}>&-"
    wait "$pid" || fail "the coprocess ended with $?"
    # A line that fails is empty, and the status is 1; without a model there is no line; a signal shows in the status.
    status=0
    printf '{"text":"A dog runs."}\n{"text":"A dog runs.","beam_size":0}\n{"text":"A dog runs."}\n' |
      "$nibu" "${flags[@]}" --input_format=jsonl --output_format=text >"$tmp/lines" 2>"$tmp/jsonl.log" || status=$?
    expect "$status, $(tr '\n' '|' <"$tmp/lines")" "1, Ein Hund rennt.||Ein Hund rennt.|"
    status=0
    "$nibu" --model="$tmp/none" <"$in" >"$tmp/lines" 2>/dev/null || status=$?
    expect "$status, $(wc -c <"$tmp/lines")" "1, 0"
    mkfifo "$tmp/fifo"
    exec 4<>"$tmp/fifo"
    "$nibu" "${flags[@]}" <&4 & pid=$!
    kill -9 $pid
    status=0
    wait $pid 2>/dev/null || status=$?
    expect "$status" 137 ;;

  slurm)
    need slurmctld slurmctld
    need slurmd slurmd
    need sbatch slurm-client
    need munged munge
    slurm=$tmp/slurm host=$(hostname -s) port=$((20000 + $$ % 10000))
    mkdir -p "$slurm/state" "$slurm/spool"
    (umask 077 && head -c 128 /dev/urandom >"$slurm/key")
    cat >"$slurm/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthInfo=socket=$slurm/munge
SlurmctldPort=$port
SlurmdPort=$((port + 10000))
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=2
PartitionName=main Nodes=$host Default=YES
END
    [[ $(slurmd -V) =~ \ (2[0-2])\. ]] || echo "CgroupPlugin=disabled" >"$slurm/cgroup.conf"  # older ones do without
    export SLURM_CONF=$slurm/slurm.conf
    munged --foreground --force --key-file="$slurm/key" --socket="$slurm/munge" --pid-file="$slurm/munge.pid" \
      --log-file="$slurm/munge.log" --seed-file="$slurm/seed" 2>"$tmp/munged.log" & daemons+=($!)
    wait_for 20 [ -e "$slurm/munge" ]
    slurmctld -D >"$tmp/slurmctld.log" 2>&1 & daemons+=($!)
    slurmd -D >"$tmp/slurmd.log" 2>&1 & daemons+=($!)
    is_idle() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }
    wait_for 60 is_idle
    submit() {
      sbatch --parsable --array=1-5 --signal=B:USR1@90 --output="$tmp/task-%a.log" "$recipes/corpus.sbatch" \
        "$in" "$out" "${flags[@]}"
    }
    # Slurm waits for two minutes before it starts a job again; slurmd refuses it in the second in which it was killed.
    has_ended() {
      local task
      for task in $(squeue -h -t PENDING -o %i:%r | sed -n 's/:BeginTime//p'); do
        sleep 5
        scontrol update "JobId=$task" StartTime=now
      done
      [ -z "$(squeue -h)" ]
    }
    states() { scontrol -o show job "$1" | sed -E 's/.*ArrayTaskId=([0-9]+) .*JobState=([A-Z]+) .*/\1 \2/' | sort | xargs; }

    # Part 3 is killed. Part 2 stays where it is until its time is up, and goes back into the queue.
    job=$(submit)
    kill_held 3
    wait_for 120 [ -e "$tmp/held/2" ]
    scontrol update "JobId=${job}_2" TimeLimit=2
    wait_for 300 has_ended
    expect "$(states "$job")" "1 COMPLETED 2 COMPLETED 3 FAILED 4 COMPLETED 5 COMPLETED"
    expect "$(began)" "1 2 2 goes on 3 4 5"
    grep -q "interrupted.*--resume goes on" "$tmp/task-2.log" || fail "the signal did not end it"
    [ ! -e "$out" ] || fail "there is a result that is not whole"
    job=$(submit)
    wait_for 300 has_ended
    expect "$(began)" "3 goes on"
    same "$out" ;;

  dask)
    python=${4:-/usr/bin/python3}
    "$python" -c "import distributed, pandas, dask.bag" 2>/dev/null ||
      { echo "skipped: corpus dask: there is no Dask (apt-get install python3-distributed python3-pandas)"; exit 77; }
    export PYTHONPATH=${5:?the folder of the Python package} PYTHONUNBUFFERED=1
    worker() {
      "$python" -m distributed.cli.dask_worker --scheduler-file="$tmp/scheduler" --nthreads=1 --no-nanny --no-dashboard \
        --local-directory="$tmp" >>"$tmp/worker.log" 2>&1 & daemons+=($!)
    }
    # Kills a worker after the first lines are written.
    translate() {  # IN OUT FLAGS...
      "$python" -B "$recipes/corpus_dask.py" "$@" --blocksize=20kB "${flags[@]}" >"$tmp/dask.log" 2>&1 & local pid=$!
      wait_for 120 [ -s "$2.tmp" ]
      [ ! -e "$2" ] || fail "it was too fast"
      kill -9 "$(victim "$pid")"
      wait $pid || fail "it failed"
    }
    # Without a cluster: a worker of its own, which is started again.
    victim() {
      cat /proc/"$1"/task/*/children | xargs -n 1 | while read -r pid; do
        ! grep -qa spawn_main "/proc/$pid/cmdline" || echo "$pid"
      done | head -n 1
    }
    translate "$in" "$out"
    same "$out"
    rm "$out"
    # With one: another worker comes in.
    "$python" -m distributed.cli.dask_scheduler --host=127.0.0.1 --port=0 --no-dashboard --scheduler-file="$tmp/scheduler" \
      >"$tmp/scheduler.log" 2>&1 & daemons+=($!)
    wait_for 60 [ -s "$tmp/scheduler" ]
    DASK_SCHEDULER_ADDRESS=$(sed -n 's/.*"address": "\(tcp[^"]*\)".*/\1/p' "$tmp/scheduler")
    export DASK_SCHEDULER_ADDRESS
    worker
    worker
    victim() { worker; echo "${daemons[1]}"; }
    translate "$in" "$out"
    same "$out"
    # The second column of a table, with all else as it was.
    table() { printf 'id,text,note\n' && awk '{ gsub(/"/, "\"\""); printf "%d,\"%s\",\"a, b\"\n", NR, $0 }' "$1"; }
    as_written() { "$python" -c "import pandas, sys; pandas.read_csv(sys.argv[1], dtype=str, keep_default_na=False).to_csv(sys.stdout, index=False)" "$1"; }
    table <(tr -d '\r' <"$in") >"$work/in.csv"
    table "$tmp/want" >"$tmp/table.csv"
    as_written "$tmp/table.csv" >"$tmp/want"
    victim() { worker; echo "${daemons[2]}"; }
    translate "$work/in.csv" "$work/out.csv" --column=text
    same "$work/out.csv" ;;
  *) fail "there is no such engine" ;;
esac
echo "$engine: passed"
