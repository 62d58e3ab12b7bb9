// The class Engine of Python: owns a nibu::Translator, whose threads call Python.
#ifndef NIBU_TOOLS_PYTHON_ENGINE_H_
#define NIBU_TOOLS_PYTHON_ENGINE_H_

#include <memory>

#include "nibu/translator.h"

namespace nibu::python {

// Owns a translator. Its last owner may be any thread, so it is destroyed where that is safe:
// without the GIL, for which its threads may wait, and not on one of its own threads. The GIL
// guards the object.
class Engine {
 public:
  explicit Engine(std::unique_ptr<Translator> translator);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Returns the translator, which lives as long as the pointer. Raises RuntimeError after Close.
  std::shared_ptr<Translator> Use() const;

  // Cancels all requests and releases the translator, which ends with the last call that uses it.
  void Close();
  // Closes all engines, ends the other threads that use the module, and waits until no translator
  // of this process is left. To be called when the interpreter ends, since no thread may call
  // Python afterwards.
  static void CloseAll();

 private:
  std::shared_ptr<Translator> translator_;
};

}  // namespace nibu::python

#endif  // NIBU_TOOLS_PYTHON_ENGINE_H_
