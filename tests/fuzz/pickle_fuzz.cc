// Fuzzes the reader of Python pickles.
#include <cstdint>
#include <string>

#include "models/files/pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static constexpr absl::string_view kGlobals[] = {"collections OrderedDict", "m f"};
  size_t consumed = 0;
  (void)nibu::internal::Pickle::Read({reinterpret_cast<const char*>(data), size}, "input", kGlobals,
                                     &consumed);
  return 0;
}
