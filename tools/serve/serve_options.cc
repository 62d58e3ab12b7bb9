// Lists nibu-serve's own options, as rows of the table of options.

#include "tools/serve/serve_options.h"

#include "tools/text/options/option_groups.h"

namespace nibu::internal {
namespace {

constexpr char kNetworkGroup[] = "Network";
constexpr char kRequestsGroup[] = "Requests";
constexpr char kLoadGroup[] = "Load";
constexpr char kAccessGroup[] = "Access";
constexpr char kWatchingGroup[] = "Watching";

}  // namespace

absl::Span<const OptionRow> ServeOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>(OptionRows({
      Row<&ServeOptions::model>(
          {.help =
               "Name, directory or file of a model to be served; give the flag again for each "
               "other model. Several paths with commas between them are an ensemble. A model whose "
               "files do not say its languages has them in front, as in en-de=PATH. Without this "
               "flag and --models it is the bundled English-German model.",
           .group = kModelGroup,
           .type = "path",
           .is_common = true}),
      Row<&ServeOptions::models>(
          {.help = "Folder of models to be served, each a file or folder in it. They are loaded "
                   "when they are first needed.",
           .type = "path",
           .is_common = true}),
      Row<&ServeOptions::pin>(
          {.help = "Names of models in --models that are loaded at once and stay, with commas "
                   "between them."}),
      Row<&ServeOptions::max_models>(
          {.help = "Most models in memory at a time; 0 is any number. Beyond it the one goes that "
                   "was needed longest ago; those of --model and --pin stay.",
           .least = 0}),
      Row<&ServeOptions::idle_minutes>(
          {.help = "Minutes after which a model that no request has needed goes; 0 keeps all. "
                   "Those of --model and --pin stay.",
           .least = 0}),
      Row<&ServeOptions::config>(
          {.help = "YAML file with options by name, as in \"beam_size: 1\". The command line takes "
                   "precedence over it. It is read again at SIGHUP, and so are the models.",
           .type = "path",
           .programs = "serve",
           .is_common = true}),
      Row<&ServeOptions::host>(
          {.help = "Address to listen on; 0.0.0.0 and :: are all of this machine. The system is "
                   "asked for the address of a name.",
           .group = kNetworkGroup,
           .is_common = true}),
      Row<&ServeOptions::port>({.help = "Port to listen on; 0 is any free one, which is printed.",
                                .least = 0,
                                .most = 65535,
                                .is_common = true}),
      Row<&ServeOptions::url_prefix>(
          {.help = "Path in front of all others, such as /mt. It is for a proxy that sends the "
                   "requests for https://example.org/mt to the server and leaves the path as it "
                   "is."}),
      Row<&ServeOptions::max_connections>(
          {.help =
               "Most connections at a time, of which a client may hold as many as it leaves free. "
               "For others, those that have been idle for longest are closed; if there are none, "
               "the answer is status 503.",
           .least = 1}),
      Row<&ServeOptions::connection_timeout>(
          {.help =
               "Seconds that a client has to send the head of a request. So many it also has to "
               "send the body, to take more of an answer, and to be idle.",
           .least = 0.01,
           .most = 1e6}),
      Row<&ServeOptions::drain_seconds>(
          {.help =
               "Seconds for which the server goes on after SIGTERM or SIGINT. /ready answers 503 "
               "from then on, so that load balancers send their requests elsewhere.",
           .least = 0,
           .most = 1e6}),
      Row<&ServeOptions::max_body_bytes>(
          {.help = "Most bytes of a request's body.", .group = kRequestsGroup, .least = 1}),
      Row<&ServeOptions::max_texts>(
          {.help = "Most texts in one request.", .least = 1, .most = 10'000}),
      Row<&ServeOptions::max_characters>({.help = "Most characters of a text.", .least = 1}),
      Row<&ServeOptions::max_alternatives>(
          {.help = "Most alternative translations that a request may ask for.",
           .least = 0,
           .most = 100}),
      Row<&ServeOptions::request_timeout>(
          {.help = "Seconds after which a request ends with status 504; 0 is never. A request may "
                   "give a shorter time as \"timeout\". One whose client goes away ends, too.",
           .least = 0,
           .most = 1e6}),
      Row<&ServeOptions::max_queue>(
          {.help = "Most requests under way; others are answered with status 503 at once. A client "
                   "has at most as many as it leaves free: half of them if it is alone.",
           .group = kLoadGroup,
           .least = 1}),
      Row<&ServeOptions::max_queue_characters>(
          {.help = "Most characters of all requests under way. A client has at most as many as it "
                   "leaves free. A request counts as half of them at most, so that any is taken "
                   "when there are no others.",
           .least = 1}),
      Row<&ServeOptions::cache_megabytes>(
          {.help = "Memory for translations that are kept, for those who ask again; 0 keeps none.",
           .least = 0,
           .most = 1e6}),
      Row<&ServeOptions::glossaries>(
          {.help = "Folder of glossaries, which requests name. In each file NAME.tsv a line is "
                   "\"SOURCE<tab>TARGET\". Clients of DeepL's interface may add files and delete "
                   "theirs. The folder is read again at SIGHUP.",
           .type = "path"}),
      Row<&ServeOptions::api_keys>(
          {.help =
               "File of keys, one in each line, of which a request must have one. Behind it may "
               "stand its own requests_per_minute=N and characters_per_day=N. The key * is that of "
               "requests without a key. Lines that begin with # do not count. It is read again at "
               "SIGHUP. Of wrong keys, an address may send 60 in a minute.",
           .group = kAccessGroup,
           .type = "path"}),
      Row<&ServeOptions::requests_per_minute>(
          {.help = "Most requests of a client in a minute; 0 is any number. A client is a key or, "
                   "without keys, an IPv4 address or the first 64 bits of an IPv6 address.",
           .least = 0}),
      Row<&ServeOptions::characters_per_day>(
          {.help = "Most characters that a client translates in a day; 0 is any number. They come "
                   "back as time passes, a 24th of them in an hour.",
           .least = 0}),
      Row<&ServeOptions::trusted_proxies>(
          {.help = "Addresses of proxies in front of the server, with commas between them. Their "
                   "X-Forwarded-For is believed to name the client."}),
      Row<&ServeOptions::log_requests>(
          {.help = "Write a line for each request to standard error. No line has a text in it.",
           .group = kWatchingGroup}),
      Row<&ServeOptions::log_format>(
          {.help = "Form of these lines and of all other messages. json: an object in each line.",
           .values = "text json"}),
      Row<&ServeOptions::metrics>({.help = "Answer /metrics, in the text format of Prometheus."}),
      Row<&ServeOptions::metrics_address>(
          {.help = "Second address to listen on, as HOST:PORT, on which /metrics, /health and "
                   "/ready are answered. /metrics is then answered nowhere else."}),
      Row<&ServeOptions::metrics_token>(
          {.help = "Token that /metrics needs, in the header \"Authorization: Bearer TOKEN\". The "
                   "variable NIBU_METRICS_TOKEN does not show it in the list of processes."}),
  }));
  return rows;
}

}  // namespace nibu::internal
