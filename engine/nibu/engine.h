// The types that the engine shares with users of the library. nibu/options.h and nibu/translator.h
// include it.
#ifndef NIBU_ENGINE_H_
#define NIBU_ENGINE_H_

#include <cstdint>

namespace nibu {

// The values of Options::beam_size and max_decoding_length where neither options nor the model have
// one.
inline constexpr int kDefaultBeamSize = 4;
inline constexpr int kDefaultMaxDecodingLength = 256;

// The unit of a batch size: sentences, or tokens of their sources.
enum class BatchType : uint8_t { kExamples, kTokens };

// The kernels that multiply matrices. kAuto: nibu's own int8 kernels where there are some
// (x86-64 with AVX-512 VNNI or AMX), oneDNN's elsewhere and in matmuls with several threads.
// kOneDnn: oneDNN's alone. Both give the same int8 results, bit for bit.
enum class MatmulKernels : uint8_t { kAuto, kOneDnn };

// The system whose rules say when a beam search ends, and which hypotheses it keeps.
enum class SearchCompat : uint8_t { kNibu, kCTranslate2, kMarian, kHuggingFace };

// The treatment of a translation that repeats itself without end.
enum class OnRepetition : uint8_t {
  kKeep,   // It stays as it is, with Warning::kRepetition.
  kRetry,  // It is searched once more with no_repeat_ngram_size=3; the better of both is taken.
};

// Counts what the threads of a translator have done since it was created, for monitoring a server.
// A sentence that two models translate in a row counts twice, once for each.
struct Activity {
  uint64_t waiting = 0;       // Sentences that no thread has begun; the only number that may fall.
  uint64_t begun = 0;         // Sentences that a thread has begun, those cancelled since included.
  double waited_seconds = 0;  // The sum of the times for which these waited in the queue.
  uint64_t steps = 0;         // Steps of the decoder: each adds a token to each of its sentences.
  uint64_t step_sentences = 0;  // The sum of the numbers of sentences in these steps.
};

}  // namespace nibu

#endif  // NIBU_ENGINE_H_
