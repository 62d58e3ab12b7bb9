// Transformer translation on CPUs. This header includes the whole C++ interface. A program:
//
//   #include <iostream>
//   #include "nibu/nibu.h"
//
//   int main() {
//     nibu::Options options;
//     options.beam_size = 2;
//     auto translator = nibu::Translator::Open("models/en-de", options);
//     if (!translator.ok()) return 1;
//     auto translation = (*translator)->Translate("Hello world!");
//     if (!translation.ok()) return 1;
//     std::cout << *translation << "\n";
//   }
//
// Everything here is thread-safe or immutable, as each class says. Errors are statuses whose
// message is one line. Functions that return a status let no exception out; those that return a
// value may throw std::bad_alloc. No function ends the process or prints anything. Texts are UTF-8;
// bytes that are not are treated as unknown characters, never as an error.
#ifndef NIBU_NIBU_H_
#define NIBU_NIBU_H_

#include "nibu/export.h"      // IWYU pragma: export
#include "nibu/language.h"    // IWYU pragma: export
#include "nibu/model.h"       // IWYU pragma: export
#include "nibu/options.h"     // IWYU pragma: export
#include "nibu/result.h"      // IWYU pragma: export
#include "nibu/sentences.h"   // IWYU pragma: export
#include "nibu/text.h"        // IWYU pragma: export
#include "nibu/text_feed.h"   // IWYU pragma: export
#include "nibu/translator.h"  // IWYU pragma: export
#include "nibu/version.h"     // IWYU pragma: export

#endif  // NIBU_NIBU_H_
