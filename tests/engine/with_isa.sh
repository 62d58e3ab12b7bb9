#!/usr/bin/env bash
# with_isa.sh ISA COMMAND...: runs a command with oneDNN held to an instruction set, one of those that
# ONEDNN_MAX_CPU_ISA knows. Exits with 77, which means skipped, where the machine has nothing above it: there
# the command would only repeat what it does without this script.
set -euo pipefail
isa=$1
shift
case $isa in  # the flags in /proc/cpuinfo of which a machine with more has one
  AVX512_CORE_BF16) above='amx_int8|avx512_fp16' ;;
  AVX512_CORE_VNNI) above='avx512_bf16' ;;
  AVX512_CORE) above='avx512_vnni' ;;
  AVX2) above='avx512bw|avx_vnni' ;;
  SSE41) above='avx' ;;
  *) echo "with_isa.sh: error: unknown instruction set '$isa'" >&2; exit 2 ;;
esac
if ! grep -qwE "$above" /proc/cpuinfo; then
  echo "skipped: this machine has nothing above $isa"
  exit 77
fi
ONEDNN_MAX_CPU_ISA=$isa exec "$@"
