// Translates the units of an input, each input format in its own way.
#ifndef NIBU_TOOLS_CLI_TRANSLATE_LINES_H_
#define NIBU_TOOLS_CLI_TRANSLATE_LINES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "nibu/nibu.h"
#include "tools/cli/output_format.h"
#include "tools/cli/run_lines.h"

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

// Turns units into their output, one for each input format.
class LineTranslator {
 public:
  explicit LineTranslator(const LineContext* context) : context_(*context) {}
  virtual ~LineTranslator() = default;
  LineTranslator(const LineTranslator&) = delete;
  LineTranslator& operator=(const LineTranslator&) = delete;

  // Queues a unit; `deliver` gets its output, line end included. Called in order, on one thread.
  virtual void Submit(uint64_t index, const TextUnit& unit, Pipeline::Deliver deliver) = 0;
  // Prints warnings about the whole input, once all output is there.
  virtual void Finish() {}
  // Forgets units of a lower index, which are written.
  void Forget(uint64_t written) { repeats_.Forget(written); }

 protected:
  // Takes the next line of --target_prefix, if there is one.
  absl::Status NextPrefix(std::string* prefix);
  // Lets `submit` translate a unit, unless an equal one is under way or done. `key` has all that
  // the result depends on; if it is empty, the result is not shared.
  void SubmitOnce(const std::string& key, uint64_t index, const Repeats::Done& end,
                  const std::function<absl::Status(nibu::Done done)>& submit);

  const LineContext& context_;

 private:
  Repeats repeats_;
};

// For --input_format=text: translates lines, paragraphs and the blocks of a document.
std::unique_ptr<LineTranslator> NewTextTranslator(const LineContext* context);
// For --tsv_column: translates the column, counted from 1, of tab-separated lines.
std::unique_ptr<LineTranslator> NewTsvTranslator(const LineContext* context, int column);
// For --input_format=jsonl: translates the text of each JSON object, with the object's options.
std::unique_ptr<LineTranslator> NewJsonTranslator(const LineContext* context);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_TRANSLATE_LINES_H_
