// Lists the flags of Marian's decoder and scorer, and says what nibu does with each.
#include "tools/marian/marian_flags.h"

namespace nibu::internal {
namespace {

constexpr auto kUnderstood = MarianFlagKind::kUnderstood;
constexpr auto kIgnored = MarianFlagKind::kIgnored;
constexpr auto kRefused = MarianFlagKind::kRefused;
constexpr auto kSwitch = MarianFlagForm::kSwitch;
constexpr auto kOne = MarianFlagForm::kOne;
constexpr auto kOptional = MarianFlagForm::kOptional;
constexpr auto kList = MarianFlagForm::kList;
constexpr char kBoth[] = "decode score";
constexpr char kDecode[] = "decode";
constexpr char kScore[] = "score";
constexpr char kGpu[] = "It means nothing here: nibu computes on CPUs.";
constexpr char kInt8[] =
    "Multiply matrices in int8. Which of Marian's forms of int8 is meant does "
    "not matter.";

constexpr MarianFlag kFlags[] = {
    {"config", 'c', kUnderstood, kList, "path", "", "", kBoth,
     "YAML files with options by their long names (-c). Later ones override earlier ones, and the "
     "command line overrides all.",
     "Files"},
    {"models", 'm', kUnderstood, kList, "path", "", "", kDecode,
     "The model (-m). Several are an ensemble."},
    {"model", 'm', kUnderstood, kOne, "path", "", "", kScore, "The model (-m)."},
    {"vocabs", 'v', kUnderstood, kList, "path", "", "", kBoth,
     "Vocabularies of source and target (-v). With .spm files, input and output are text; with "
     "others, pieces separated by blanks. Without the option, the files beside the model tell."},
    {"input", 'i', kUnderstood, kList, "path", "stdin", "", kDecode,
     "File with the source (-i), plain or compressed with gzip. With --force-decode, a second one "
     "has "
     "the beginnings of the translations."},
    {"train-sets", 't', kUnderstood, kList, "path", "stdin", "", kScore,
     "Files with the sources and their translations (-t); with --tsv, one file."},
    {"output", 'o', kUnderstood, kOne, "path", "stdout", "", kBoth,
     "File for the output (-o). One that ends in .gz is compressed. It appears under its name when "
     "it is complete."},
    {"tsv", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth,
     "Read tab-separated lines: the source and, behind it, the translation or its beginning."},
    {"tsv-fields", 0, kUnderstood, kOne, "int", "0", "", kBoth,
     "Number of tab-separated fields; 0: as many as the other options need."},
    {"relative-paths", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth,
     "Paths in a --config file are relative to the folder of this file."},
    {"interpolate-env-vars", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth,
     "Replace ${NAME} in paths by the environment's variable."},
    {"ignore-model-config", 0, kIgnored, kSwitch, "bool", "false", "", kBoth,
     "It means nothing here: the model's file always tells its architecture."},
    {"encryption-key-path", 0, kIgnored, kOne, "path", "", "", kBoth,
     "It means nothing here: no model is encrypted."},
    {"model-mmap", 0, kIgnored, kSwitch, "bool", "false", "", kBoth,
     "It means nothing here: model files are always mapped."},
    {"beam-size", 'b', kUnderstood, kOne, "int", "12", "", kDecode, "Width of the beam (-b).",
     "Translation"},
    {"normalize", 'n', kUnderstood, kOptional, "float", "0", "1", kBoth,
     "Divide scores by the length to this power (-n)."},
    {"word-penalty", 0, kUnderstood, kOne, "float", "0", "", kDecode,
     "Subtract this from the score for each token."},
    {"max-length", 0, kUnderstood, kOne, "int", "1000", "", kBoth,
     "Most tokens of a source, its end included. Longer ones are split, and translated in parts; "
     "Marian leaves them out, and prints nothing behind them. The scorer scores lines of any "
     "length."},
    {"max-length-crop", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth,
     "Cut longer sources instead."},
    {"max-length-factor", 0, kUnderstood, kOne, "float", "3", "", kDecode,
     "Most tokens of a translation for each token of its source."},
    {"allow-unk", 0, kUnderstood, kSwitch, "bool", "false", "", kDecode,
     "Unknown tokens may be generated."},
    {"allow-special", 0, kIgnored, kSwitch, "bool", "false", "", kDecode,
     "It means nothing here: special tokens may always be generated."},
    {"weights", 0, kUnderstood, kList, "float", "", "", kDecode,
     "Weights of the models of an ensemble; without the option, 1 for each."},
    {"shortlist", 0, kUnderstood, kList, "path", "", "", kDecode,
     "Lexical shortlist. Behind a text file, first, best and prune may follow; behind a binary one "
     "a "
     "truth value, which means nothing, since nibu checks each file."},
    {"output-sampling", 0, kUnderstood, kList, "text", "", "full", kDecode,
     "Sample: full [TEMPERATURE], or topk K [TEMPERATURE]. With --n-best, --beam-size samples are "
     "drawn."},
    {"seed", 0, kUnderstood, kOne, "text", "0", "", kDecode,
     "Seed of --output-sampling. The same seed gives the same output, 0 included."},
    {"force-decode", 0, kUnderstood, kSwitch, "bool", "false", "", kDecode,
     "Translations begin with the lines of the last --input, or the last field of --tsv."},
    {"skip-cost", 0, kIgnored, kSwitch, "bool", "false", "", kDecode,
     "It means nothing here: greedy search never computes scores that nobody asks for."},
    {"no-spm-encode", 0, kUnderstood, kSwitch, "bool", "false", "", kDecode,
     "The input is pieces, whatever the vocabulary is."},
    {"no-spm-decode", 0, kUnderstood, kSwitch, "bool", "false", "", kDecode,
     "The output is pieces, whatever the vocabulary is."},
    {"output-approx-knn", 0, kIgnored, kList, "int", "", "", kDecode,
     "It means nothing here: the output layer is always exact."},
    {"right-left", 0, kRefused, kSwitch, "bool", "false", "", kBoth,
     "Refused: nibu does not read models that write from right to left."},
    {"n-best", 0, kUnderstood, kSwitch, "bool", "false", "", kDecode,
     "Print --beam-size translations of each line with their scores.", "Output and log"},
    {"alignment", 0, kUnderstood, kOptional, "text", "", "hard", kDecode,
     "Print alignments: hard, soft, or all pairs with an attention above a number."},
    {"word-scores", 0, kUnderstood, kSwitch, "bool", "false", "", kDecode,
     "Print the log-probability of each token."},
    {"summary", 0, kRefused, kOptional, "text", "", "cross-entropy", kScore,
     "Refused: nibu-score --stats prints sums over all lines."},
    {"quiet", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth,
     "Log nothing on standard error."},
    {"quiet-translation", 0, kUnderstood, kSwitch, "bool", "false", "", kDecode,
     "Do not log translations."},
    {"log", 0, kUnderstood, kOne, "path", "", "", kBoth,
     "File to which the log is appended, with --quiet, too."},
    {"log-level", 0, kUnderstood, kOne, "text", "info", "", kBoth,
     "Least important lines that are logged: trace, debug, info, warn, error, critical or off."},
    {"log-time-zone", 0, kUnderstood, kOne, "text", "", "", kBoth,
     "Time zone of the log, such as UTC."},
    {"stat-freq", 0, kUnderstood, kOne, "int", "0", "", kDecode,
     "Log the speed each time so many mini-batches have been translated; 0: never."},
    {"dump-config", 0, kUnderstood, kOptional, "text", "", "full", kBoth,
     "Print the configuration as YAML, and end: full, or minimal without default values."},
    {"build-info", 0, kUnderstood, kOptional, "text", "", "basic", kBoth,
     "Print version and instruction set on standard error, and end."},
    {"version", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth,
     "Print the version on standard error, and end."},
    {"dump-quantmult", 0, kRefused, kSwitch, "bool", "false", "", kDecode,
     "Refused: nibu has no statistics of activations to print; Marian has to make them."},
    {"cpu-threads", 0, kUnderstood, kOptional, "int", "0", "1", kBoth,
     "Number of threads; 0: one for each core.", "Machine"},
    {"mini-batch", 0, kUnderstood, kOne, "int", "1", "", kBoth,
     "Sentences that a thread translates together; 1: chosen for speed. It never changes a "
     "translation."},
    {"mini-batch-words", 0, kUnderstood, kOne, "int", "0", "", kBoth,
     "Source tokens that a thread translates together, in place of --mini-batch."},
    {"maxi-batch", 0, kUnderstood, kOne, "int", "1", "", kBoth,
     "Batches that are read at once. nibu chooses it, and always sorts by length."},
    {"maxi-batch-sort", 0, kUnderstood, kOne, "text", "none", "", kBoth,
     "Order of sentences in --maxi-batch. nibu chooses it."},
    {"workspace", 'w', kIgnored, kOne, "int", "512", "", kBoth,
     "It means nothing here (-w): memory is taken as it is needed."},
    {"devices", 'd', kIgnored, kList, "text", "0", "", kBoth,
     "It means nothing here (-d): nibu computes on CPUs."},
    {"num-devices", 0, kIgnored, kOne, "int", "0", "", kBoth, kGpu},
    {"fp16", 0, kIgnored, kSwitch, "bool", "false", "", kBoth, kGpu},
    {"precision", 0, kIgnored, kList, "text", "float32", "", kBoth, kGpu},
    {"data-threads", 0, kIgnored, kOne, "int", "8", "", kBoth,
     "It means nothing here: --cpu-threads tokenize, too."},
    {"clip-gemm", 0, kIgnored, kOne, "float", "0", "", kBoth,
     "It means nothing here: products do not overflow."},
    {"quantize-range", 0, kIgnored, kOne, "float", "0", "", kBoth,
     "It means nothing here: nibu chooses ranges itself."},
    {"use-legacy-batching", 0, kIgnored, kSwitch, "bool", "false", "", kBoth,
     "It means nothing here: there is one kind of batches."},
    {"optimize", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth, kInt8},
    {"int8", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth, kInt8},
    {"int8Alpha", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth, kInt8},
    {"int8shift", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth, kInt8},
    {"int8shiftAlpha", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth, kInt8},
    {"int8shiftAll", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth, kInt8},
    {"int8shiftAlphaAll", 0, kUnderstood, kSwitch, "bool", "false", "", kBoth, kInt8},
    {"gemm-type", 'g', kUnderstood, kOne, "text", "float32", "", kBoth,
     "Type of matrix products (-g): names with \"8\" mean int8, others the model's own type."},
    {"gemm-precision", 0, kUnderstood, kOne, "text", "float32", "", kBoth,
     "Type of matrix products: names with \"8\" mean int8, others the model's own type."},
    {"port", 'p', kRefused, kOne, "int", "8080", "", kDecode,
     "Refused (-p): this program is no server; nibu-serve is one."},
    // Options that bergamot's configurations have for its own programs.
    {"ssplit-mode", 0, kIgnored, kOne, "text", "", "", kDecode,
     "It means nothing here: lines are not split into sentences."},
    {"ssplit-prefix-file", 0, kIgnored, kOne, "path", "", "", kDecode,
     "It means nothing here: lines are not split into sentences."},
    {"max-length-break", 0, kIgnored, kOne, "int", "", "", kDecode,
     "It means nothing here: --max-length says where lines are split."},
    {"mini-batch-break-size", 0, kIgnored, kOne, "int", "", "", kDecode,
     "It means nothing here: nibu makes batches itself."},
    {"cache-translations", 0, kIgnored, kOne, "text", "", "", kDecode,
     "It means nothing here: there is no cache."},
};

}  // namespace

absl::Span<const MarianFlag> MarianFlags() { return kFlags; }

}  // namespace nibu::internal
