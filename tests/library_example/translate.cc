// translate MODEL TEXT: translates a text with the C++ interface, and says why it cannot.
//
//   c++ -std=c++17 translate.cc $(pkg-config --cflags --libs nibu) -o translate
//   ./translate opus-mt-en-fr "A dog runs."
#include <cstdlib>
#include <iostream>

#include "nibu/nibu.h"

namespace {

int Fail(const absl::Status& status) {
  std::cerr << "translate: " << status.message() << "\n";
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: translate MODEL TEXT\n";
    return 2;
  }
  nibu::Options options;
  options.beam_size = 2;
  const auto translator = nibu::Translator::Open(argv[1], options);
  if (!translator.ok()) return Fail(translator.status());
  const auto translation = (*translator)->Translate(argv[2]);
  if (!translation.ok()) return Fail(translation.status());
  std::cout << *translation << "\n";
}
