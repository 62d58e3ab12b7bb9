// Lists nibu-load's options, as rows of the table of options.

#include "tools/serve/load_options.h"

#include <vector>

#include "tools/text/options/option_groups.h"

namespace nibu::internal {

namespace {

constexpr char kServerGroup[] = "Server";

}  // namespace

absl::Span<const OptionRow> LoadOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>{
      Row<&LoadOptions::url>({.name = "url",
                              .help = "Address of the server, as in http://HOST:PORT. A path "
                                      "follows if the interface is not at the root.",
                              .group = kServerGroup}),
      Row<&LoadOptions::src>(
          {.name = "src",
           .help = "File with the texts to translate, one in each line; - is standard input. It is "
                   "UTF-8, plain or compressed with gzip.",
           .group = kTextGroup,
           .type = "path"}),
      Row<&LoadOptions::source>(
          {.name = "source",
           .help = "Code of the texts' language; auto: the server detects it.",
           .group = kTextGroup}),
      Row<&LoadOptions::target>({.name = "target",
                                 .help = "Code of the language to translate into.",
                                 .group = kTextGroup}),
      Row<&LoadOptions::format>({.name = "format",
                                 .help = "Format of the texts, such as text or html. Empty: "
                                         "requests have no format.",
                                 .group = kTextGroup}),
      Row<&LoadOptions::requests>(
          {.name = "requests",
           .help = "Number of requests in all, for which the lines are repeated in turn. 0: as "
                   "many as it takes to send each line once.",
           .group = kMeasuringGroup,
           .least = 0}),
      Row<&LoadOptions::texts>({.name = "texts",
                                .help = "Number of texts in each request. One is sent as a string, "
                                        "several are sent as an array.",
                                .group = kMeasuringGroup,
                                .least = 1}),
      Row<&LoadOptions::clients>(
          {.name = "clients",
           .help = "Number of connections, which are kept open. Each sends a request when its last "
                   "one is answered.",
           .group = kMeasuringGroup,
           .least = 1}),
      Row<&LoadOptions::rate>(
          {.name = "rate",
           .help = "Number of requests that become due each second, whether or not others are "
                   "answered. A request that is due while all clients are busy waits for one, and "
                   "this wait is part of its latency. 0: a request is due when a client is free.",
           .group = kMeasuringGroup,
           .least = 0}),
      Row<&LoadOptions::abandon>(
          {.name = "abandon",
           .help = "Percentage of requests that are abandoned. Their connection is closed 1 to 10 "
                   "milliseconds after they begin to be sent, unless they are answered before.",
           .group = kMeasuringGroup,
           .least = 0,
           .most = 100}),
      Row<&LoadOptions::idle>(
          {.name = "idle",
           .help = "Number of additional connections that send nothing. One that the server closes "
                   "is opened again.",
           .group = kMeasuringGroup,
           .least = 0}),
      Row<&LoadOptions::slow>(
          {.name = "slow",
           .help = "Number of additional connections that send an endless head, a byte each 100 "
                   "milliseconds. One that the server closes is opened again.",
           .group = kMeasuringGroup,
           .least = 0}),
      Row<&LoadOptions::health>(
          {.name = "health",
           .help = "Ask for /health every 100 milliseconds, on another connection. The report has "
                   "how long the answers take.",
           .group = kMeasuringGroup}),
      Row<&LoadOptions::out>(
          {.name = "out",
           .help = "File for the translations, one in each line, in the order of the requests. A "
                   "line is empty where a request was not answered by a translation.",
           .group = kOutputGroup,
           .type = "path"}),
  };
  return rows;
}

}  // namespace nibu::internal
