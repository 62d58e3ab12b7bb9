// Handles SIGBUS. The handler finds the name of the file in /proc/self/maps (proc(5)), so that the
// code that maps files does not have to know about it. It may only call functions that are safe in
// handlers of signals (signal-safety(7)), and must not allocate memory.

#include "tools/cli/changed_files.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>

namespace nibu::internal {
namespace {

// A text of bounded length; what is beyond it is left out.
struct Line {
  char bytes[PATH_MAX + 256];
  size_t size = 0;

  void Add(absl::string_view text) {
    for (const char c : text) {
      if (size + 1 < sizeof(bytes)) bytes[size++] = c;
    }
    bytes[size] = '\0';
  }
};

char program_name[64];
// They are static, because the stack of the thread may be small.
char maps_buffer[4096];
Line maps_line;
Line bus_message;

// Returns the number that a text begins with, in hexadecimal digits, and removes it.
uintptr_t TakeHex(absl::string_view* text) {
  uintptr_t number = 0;
  for (; !text->empty(); text->remove_prefix(1)) {
    const char c = text->front();
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) break;
    number = number * 16 + static_cast<uintptr_t>(is_digit ? c - '0' : c - 'a' + 10);
  }
  return number;
}

// Returns the file of a line like "7f00-7f80 r--p 00000000 fd:01 42   /path" if its addresses
// include `address`, or else an empty text.
absl::string_view FileIn(absl::string_view line, uintptr_t address) {
  absl::string_view rest = line;
  const uintptr_t begin = TakeHex(&rest);
  if (rest.empty() || rest.front() != '-') return "";
  rest.remove_prefix(1);
  const uintptr_t end = TakeHex(&rest);
  const size_t path = rest.find('/');
  if (address < begin || address >= end || path == absl::string_view::npos) return "";
  return rest.substr(path);
}

// Returns the file that is mapped to an address, or an empty text if there is none.
absl::string_view MappedFile(uintptr_t address) {
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return "";
  for (ssize_t count; (count = read(maps, maps_buffer, sizeof(maps_buffer))) > 0;) {
    for (const char c : absl::string_view(maps_buffer, static_cast<size_t>(count))) {
      if (c != '\n') {
        maps_line.Add({&c, 1});
        continue;
      }
      const absl::string_view file = FileIn({maps_line.bytes, maps_line.size}, address);
      if (!file.empty()) return file;
      maps_line.size = 0;
    }
  }
  return "";
}

void Handle(int number, siginfo_t* info, void*) {
  // Other threads that read the file get the signal, too, and wait here for the end.
  static std::atomic_flag is_handled = ATOMIC_FLAG_INIT;
  if (is_handled.test_and_set()) {
    while (true) pause();
  }
  absl::string_view file;
  if (info->si_code == BUS_ADRERR) file = MappedFile(reinterpret_cast<uintptr_t>(info->si_addr));
  if (file.empty()) {
    signal(number, SIG_DFL);
    raise(number);  // takes effect when the handler returns
    return;
  }
  for (const absl::string_view part :
       {absl::string_view(program_name), absl::string_view(": error: "), file,
        absl::string_view(" was changed while it was in use; replace a model with mv, not cp\n")}) {
    bus_message.Add(part);
  }
  const ssize_t written = write(STDERR_FILENO, bus_message.bytes, bus_message.size);
  static_cast<void>(written);  // There is nobody else to tell.
  _exit(1);
}

}  // namespace

void EndWhenMappedFilesShrink(absl::string_view program) {
  const size_t size = std::min(program.size(), sizeof(program_name) - 1);
  std::memcpy(program_name, program.data(), size);
  program_name[size] = '\0';
  struct sigaction action = {};
  action.sa_sigaction = Handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace nibu::internal
