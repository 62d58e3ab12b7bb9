// Translates the units of an input, each input format in its own way.
#ifndef NIBU_TOOLS_CLI_TRANSLATE_LINES_H_
#define NIBU_TOOLS_CLI_TRANSLATE_LINES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "nibu/nibu.h"
#include "tools/cli/output_format.h"
#include "tools/cli/run_lines.h"
#include "tools/cli/totals.h"

namespace nibu::internal {

// The objects that all lines of a run share. They must outlive the translation of the lines.
struct LineContext {
  nibu::Translator* translator = nullptr;
  std::shared_ptr<const nibu::Model> model;
  nibu::Options text;                // the options of all lines
  std::shared_ptr<const Plan> plan;  // made of `text`; null: each JSON line has to name a language
  OutputOptions output;
  InputLines* prefixes = nullptr;  // the lines of --target_prefix, or null
  std::string prefix_file;
  Totals* totals = nullptr;
};

// Translates a line once that comes again before its first translation is written. Thread-safe.
class Repeats {
 public:
  using Result = absl::StatusOr<nibu::Result>;
  using Done = std::function<void(uint64_t index, const Result& result)>;

  // Adds a line. `done` gets its result, on any thread, perhaps within this call. If the returned
  // function is not null, the caller has to translate the line and hand the result to it; null
  // means that an equal line has been added before. `key` has all that the result depends on. To be
  // called in the order of indices.
  nibu::Done Add(const std::string& key, uint64_t index, Done done);
  // Forgets lines of a lower index, which are done.
  void Forget(uint64_t index);

 private:
  struct Entry {
    std::vector<std::pair<uint64_t, Done>> waiting;
    std::shared_ptr<const Result> result;
    size_t lines = 0;
  };

  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  // The lines and their entries, in order. Pointers to elements of a map stay valid.
  std::deque<std::pair<uint64_t, std::pair<const std::string, Entry>*>> lines_;
};

// Turns units into their output, one for each input format.
class LineTranslator {
 public:
  explicit LineTranslator(const LineContext* context) : context_(*context) {}
  virtual ~LineTranslator() = default;
  LineTranslator(const LineTranslator&) = delete;
  LineTranslator& operator=(const LineTranslator&) = delete;

  // Queues a unit; `deliver` gets its output, line end included. Called in order, on one thread.
  virtual void Submit(uint64_t index, const InputUnit& unit, Pipeline::Deliver deliver) = 0;
  // Prints warnings about the whole input, once all output is there.
  virtual void Finish() {}
  // Forgets units of a lower index, which are written.
  void Forget(uint64_t written) { repeats_.Forget(written); }

 protected:
  // Takes the next line of --target_prefix, if there is one.
  absl::Status NextPrefix(std::string* prefix);
  // Submits a text or unit whose result, or error, `end` gets, unless an equal one is under way or
  // done. `key` has all that the result depends on; if it is empty, the result is not shared.
  // `request.key` is the unit's index.
  template <typename Text>
  void SubmitOnce(const std::string& key, const Text& text, std::shared_ptr<const Plan> plan,
                  nibu::Request request, const Repeats::Done& end) {
    const uint64_t index = request.key;
    const nibu::Done done = key.empty() ? nibu::Done(end) : repeats_.Add(key, index, end);
    if (done == nullptr) return;
    const auto ticket =
        context_.translator->Submit(text, std::move(plan), std::move(request), done, kForever);
    if (!ticket.ok()) done(index, ticket.status());
  }

  const LineContext& context_;

 private:
  Repeats repeats_;
};

// For --input_format=text: translates lines, paragraphs and the blocks of a document.
std::unique_ptr<LineTranslator> NewUnitTranslator(const LineContext* context);
// For --tsv_column: translates the column, counted from 1, of tab-separated lines.
std::unique_ptr<LineTranslator> NewTsvTranslator(const LineContext* context, int column);
// Returns whether the last cell of a table's row has a quotation mark in front and none behind: it
// has further lines.
bool HasOpenCell(absl::string_view row);
// For --input_format=jsonl: translates the text of each JSON object, with the object's options.
std::unique_ptr<LineTranslator> NewJsonTranslator(const LineContext* context);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_TRANSLATE_LINES_H_
