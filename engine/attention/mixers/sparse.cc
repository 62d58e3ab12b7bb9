// Attends by a pattern, a tile of queries at a time.
#include "engine/attention/mixers/sparse.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/base/macros.h"
#include "engine/attention/kernels.h"
#include "engine/attention/mixers/local.h"
#include "engine/attention/mixers/pattern.h"
#include "engine/attention/mixers/score.h"

namespace nibu::internal {
namespace {

constexpr int kMostQueries = 64;  // of a tile

int CountOf(const KeySpan& span) { return (span.end - span.begin + span.step - 1) / span.step; }

// The keys that a tile of queries sees.
struct TileKeys {
  // The spans of all queries, one query after another: query r's are spans[ends[r - 1] .. ends[r]).
  std::vector<KeySpan> spans;
  std::vector<size_t> ends;
  size_t seen = 0;           // keys, over all queries
  std::vector<KeySpan> all;  // ascending, disjoint
  std::vector<KeySpan> scratch;

  void Find(const MixerSpec& mixer, int positions, const QueryTile& tile, int head,
            const Queries& queries) {
    spans.clear();
    ends.clear();
    seen = 0;
    for (int r = 0; r < tile.count; ++r) {
      const int query = tile.first + r * tile.step;
      FindKeys(mixer, positions, {query, head, queries.centre(query)}, &scratch);
      Unite(&scratch);
      spans.insert(spans.end(), scratch.begin(), scratch.end());
      for (const KeySpan& span : scratch) seen += static_cast<size_t>(CountOf(span));
      ends.push_back(spans.size());
    }
    all = spans;
    Unite(&all);
  }

  // Sorts spans and joins those that overlap. Spans with steps are equal, or disjoint.
  static void Unite(std::vector<KeySpan>* spans) {
    std::sort(spans->begin(), spans->end(), [](const KeySpan& a, const KeySpan& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    size_t kept = 0;
    for (const KeySpan& span : *spans) {
      KeySpan& last = (*spans)[kept == 0 ? 0 : kept - 1];
      if (kept > 0 && span.step == last.step && span.begin <= last.end &&
          (span.step == 1 || span.begin == last.begin)) {
        last.end = std::max(last.end, span.end);
      } else {
        (*spans)[kept++] = span;
      }
    }
    spans->resize(kept);
  }

  int count() const {
    int sum = 0;
    for (const KeySpan& span : all) sum += CountOf(span);
    return sum;
  }
  // Returns true if some query does not see all of it.
  bool hides() const { return seen != static_cast<size_t>(count()) * ends.size(); }
};

// Calls f(column, key) for the keys of `spans`, which are parts of keys.all.
template <typename F>
void ForEachColumn(const TileKeys& keys, const KeySpan* spans, const KeySpan* end, F f) {
  int column = 0;
  for (const KeySpan& whole : keys.all) {
    for (; spans != end && spans->begin < whole.end; ++spans) {
      for (int key = spans->begin; key < spans->end; key += spans->step) {
        const int at = column + (key - whole.begin) / whole.step;
        f(static_cast<size_t>(at), static_cast<size_t>(key));
      }
    }
    column += CountOf(whole);
  }
}

// Calls f(column, key) for the keys that query r of the tile sees.
template <typename F>
void ForEachColumnOf(const TileKeys& keys, size_t r, F f) {
  const KeySpan* const spans = keys.spans.data();
  ForEachColumn(keys, spans + (r == 0 ? 0 : keys.ends[r - 1]), spans + keys.ends[r], f);
}

// Returns the keys and values of `keys`: where they are, if one span is all of them, else a copy.
KeyValueRows Gather(const TileKeys& keys, const KeyValueRows& memory, size_t inner, Arena* arena) {
  const KeySpan& first = keys.all[0];
  if (keys.all.size() == 1) {
    const size_t at = static_cast<size_t>(first.begin) * memory.stride;
    return {memory.keys + at, memory.values + at, memory.stride * static_cast<size_t>(first.step),
            CountOf(first)};
  }
  const int count = keys.count();
  float* const rows = arena->Floats(static_cast<size_t>(count) * 2 * inner);
  ForEachColumn(keys, keys.all.data(), keys.all.data() + keys.all.size(),
                [&](size_t column, size_t key) {
                  float* const row = rows + column * 2 * inner;
                  std::copy_n(memory.keys + key * memory.stride, inner, row);
                  std::copy_n(memory.values + key * memory.stride, inner, row + inner);
                });
  return {rows, rows + inner, 2 * inner, count};
}

// The window of a query whose place is predicted; none of another mechanism.
std::optional<LocalWindow> LocalOf(const MixerSpec& mixer, const Queries& queries, int query,
                                   int positions, Arena* arena) {
  const auto* const local = mixer.As<PredictedWindow>();
  if (local == nullptr) return std::nullopt;
  const float centre = queries.centre(query);
  const KeySpan window = WindowOf(mixer, positions, {query, 0, centre});
  return LocalWindow(window.begin, window.end, static_cast<double>(centre), local->width, arena);
}

// The model's bias, the mechanism's, and what hides keys; [1 or H, queries, columns].
ScoreBias MakeBias(const AttentionSpec& spec, const Queries& queries, int positions,
                   const QueryTile& tile, const TileKeys& keys, Arena* arena) {
  const bool is_local = spec.mixer.Is<PredictedWindow>();
  const auto width = static_cast<size_t>(spec.mixer.biased_width());
  const bool has_heads = spec.bias.values != nullptr || width > 0;
  if (!has_heads && !is_local && !keys.hides()) return {};
  const auto columns = static_cast<size_t>(keys.count());
  const auto rows = static_cast<size_t>(tile.count);
  const size_t heads = has_heads ? static_cast<size_t>(spec.shape.heads) : 1;
  float* const values = arena->Floats(heads * rows * columns);
  std::fill_n(values, heads * rows * columns, kHidden);
  for (size_t r = 0; r < rows; ++r) {
    const Arena::Mark mark = arena->mark();
    const int query = tile.first + static_cast<int>(r) * tile.step;
    const std::optional<LocalWindow> local = LocalOf(spec.mixer, queries, query, positions, arena);
    for (size_t h = 0; h < heads; ++h) {
      const float* const bias = spec.bias.Of(h, static_cast<size_t>(query), 0);
      const float* const relative =
          width == 0 ? nullptr : spec.weights.relative + h * (2 * width - 1);
      float* const row = values + (h * rows + r) * columns;
      ForEachColumnOf(keys, r, [&](size_t column, size_t key) {
        float sum = bias == nullptr ? 0.0f : bias[key];
        if (relative != nullptr) {
          sum += relative[RelativePlace(spec.mixer, positions, query, static_cast<int>(key))];
        }
        if (local.has_value()) sum += local->log_weight(static_cast<int>(key));
        row[column] = sum;
      });
    }
    arena->Rewind(mark);
  }
  return {values, heads == 1 ? 0 : rows * columns, static_cast<ptrdiff_t>(columns)};
}

// Scales what a softmax with log g added has given for the queries of a tile (local.h).
void ScaleToLocal(const AttentionSpec& spec, const Queries& queries, int positions,
                  const QueryTile& tile, const TileKeys& keys, const AttentionOutput& part,
                  Arena* arena) {
  const auto rows = static_cast<size_t>(tile.count);
  const auto columns = static_cast<size_t>(keys.count());
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  for (size_t r = 0; r < rows; ++r) {
    const Arena::Mark mark = arena->mark();
    const int query = tile.first + static_cast<int>(r) * tile.step;
    size_t first = columns;  // the window's first column; the others are behind it
    ForEachColumnOf(keys, r, [&](size_t column, size_t) { first = std::min(first, column); });
    const std::optional<LocalWindow> local = LocalOf(spec.mixer, queries, query, positions, arena);
    for (size_t h = 0; h < static_cast<size_t>(spec.shape.heads); ++h) {
      float* const weights = part.weights + (h * rows + r) * columns;
      local->Scale(weights + first, dim, part.rows + r * part.stride + h * dim, columns, weights);
    }
    arena->Rewind(mark);
  }
}

// Attends with heads that see the same keys; `head`: the number of the first one.
void AttendHeads(const AttentionSpec& spec, int head, const Queries& queries,
                 const KeyValueRows& memory, const AttentionOutput& output, Arena* arena) {
  const auto heads = static_cast<size_t>(spec.shape.heads);
  const size_t inner = heads * static_cast<size_t>(spec.shape.head_dim);
  const auto positions = static_cast<size_t>(memory.positions);
  const bool is_local = spec.mixer.Is<PredictedWindow>();
  if (output.weights != nullptr) std::fill_n(output.weights, heads * positions * positions, 0.0f);
  TileKeys keys;
  for (const QueryTile& tile : TilesOf(spec.mixer, memory.positions, kMostQueries)) {
    const Arena::Mark mark = arena->mark();
    keys.Find(spec.mixer, memory.positions, tile, head, queries);
    const auto first = static_cast<size_t>(tile.first);
    const auto step = static_cast<size_t>(tile.step);
    const auto rows = static_cast<size_t>(tile.count);
    const KeyValueRows seen = Gather(keys, memory, inner, arena);
    const auto columns = static_cast<size_t>(seen.positions);
    AttentionSpec full = spec;
    full.mixer.mechanism = FullAttention();
    full.bias = MakeBias(spec, queries, memory.positions, tile, keys, arena);
    AttentionOutput part = {output.rows + first * output.stride, step * output.stride};
    if (output.weights != nullptr || is_local) {
      part.weights = arena->Floats(heads * rows * columns);
    }
    AttendByScore(full, {queries.rows + first * queries.stride, step * queries.stride, tile.count},
                  PackRows(spec.shape, seen, arena), part, arena, /*next=*/nullptr);
    if (is_local) ScaleToLocal(spec, queries, memory.positions, tile, keys, part, arena);
    for (size_t n = 0; output.weights != nullptr && n < heads * rows; ++n) {
      const size_t row = n / rows * positions + first + n % rows * step;
      ForEachColumn(keys, keys.all.data(), keys.all.data() + keys.all.size(),
                    [&](size_t column, size_t key) {
                      output.weights[row * positions + key] = part.weights[n * columns + column];
                    });
    }
    arena->Rewind(mark);
  }
}

}  // namespace

void AttendSparse(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                  const AttentionOutput& output, Arena* arena) {
  ABSL_ASSERT(queries.count == memory.positions && queries.first == 0 && queries.step == 1);
  if (!HasHeads(spec.mixer)) return AttendHeads(spec, 0, queries, memory, output, arena);
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const auto positions = static_cast<size_t>(memory.positions);
  AttentionSpec one = spec;
  one.shape = {1, spec.shape.head_dim, spec.shape.Scale()};
  for (int h = 0; h < spec.shape.heads; ++h) {
    const auto head = static_cast<size_t>(h);
    const size_t column = head * dim;
    one.bias.values = spec.bias.Of(head, 0, 0);
    if (spec.weights.vector != nullptr) one.weights.vector = spec.weights.vector + column;
    Queries own = queries;
    own.rows += column;
    AttendHeads(
        one, h, own,
        {memory.keys + column, memory.values + column, memory.stride, memory.positions},
        {output.rows + column, output.stride, output.WeightsOf(head, 0, queries, positions)},
        arena);
  }
}

}  // namespace nibu::internal
