#include "cli/timeline/help.h"

#include <iterator>

namespace sonde::cli::timeline {
namespace {

struct Text {
  std::string_view command, text;
};

constexpr std::string_view kAll =
    R"(sonde timeline: convert, merge, compare and summarise traces

  sonde timeline convert IN... -o OUT       to a Chrome trace (or Perfetto, CSV, folded stacks)
  sonde timeline merge IN... -o OUT         many runs or ranks on one time axis
  sonde timeline stats IN...                what took the time, by name, operator, lane, step ...
  sonde timeline diff BASE NEW              what got slower, what faster; fails a CI job if asked
  sonde timeline info IN...                 what is in it, and what is damaged
  sonde timeline cut IN -o OUT              a part of a trace: a time range, a step, around a name
  sonde timeline view IN...                 look at it in the browser

IN is told apart by content: TensorFlow RunMetadata or StepStats (binary or text), a TensorBoard
event file with run metadata (every tag is a run), XSpace (*.xplane.pb), Kineto and any other Chrome
trace JSON, Perfetto protobuf, each also packed with gzip; a folder of them; - is standard input.

  sonde timeline convert run_metadata.pb -o t.json --compat tf
                                     byte for byte what TensorFlow's timeline module writes
  sonde timeline merge run_*.pb --layout sequence -o merged.json
                                     one timeline of all runs, gaps closed, runs separated
  sonde timeline stats logs/train --by op --top 10
                                     the ten operators that took most time, warm-up left out
  sonde timeline diff base.json new.json --by step --fail-above 5
                                     exit code 4 when a step got more than 5 % slower

sonde timeline COMMAND --help says more. Exit codes: 0 done; 1 nothing could be read; 2 wrong usage;
3 done with losses, which are listed; 4 slower than --fail-above allows.
)";

constexpr std::string_view kInputs =
    R"(
Inputs
  --tag REGEX               only these tags of event files
  --filter EXPR             only these slices: cat=kernel, name~gemm, op=MatMul, lane~stream,
                            dur>100us, step=3..5, joined by and, or, not and brackets
  --op-time schedule|gpu|all  of TensorFlow ops with kernels: their launch (default), their kernels,
                            or from launch to the end of the kernels
  --lanes thread|packed|tf  of run metadata: the recorded threads (default), as few lanes as the
                            nodes need, or packed as TensorFlow does
)";

constexpr std::string_view kOutputs =
    R"(
Output
  -o OUT                    file to write; - is standard output; an ending .gz packs it
  --to chrome|perfetto|csv|folded|tf   (default chrome; tf is chrome with --compat tf)
  --compat tf               of run metadata: exactly TensorFlow's own output
  --no-show-dataflow        leave out the arrows between slices
  --show-memory             of run metadata: memory of the allocators over time
  --rebase, --absolute      times from 0, or as the clock of the capture
  --time-unit us|ns         times as exact as they are known (default), or whole nanoseconds;
                            Chrome's unit is the microsecond either way
  --drop-args, --keep-args A,B   leave out arguments, for smaller files
  --gzip                    pack the output
  --verify                  read the output again and compare numbers and sums
)";

constexpr std::string_view kConvert =
    R"(sonde timeline convert IN... -o OUT: write captures as a Chrome trace, or another form

Several inputs come on one time axis by their clocks. Times stay as recorded unless --rebase is given.

  sonde timeline convert run_metadata.pb -o t.json --compat tf
  sonde timeline convert logdir/train -o t.json --show-memory
  sonde timeline convert host0.xplane.pb -o host0.json.gz --filter "dur>10us"
)";

constexpr std::string_view kMerge =
    R"(sonde timeline merge IN... -o OUT: many runs or ranks on one time axis

Devices, processes and threads are the same when their names are (and rank or host, where the
capture knows it), whatever numbers they had; ids of arrows are renumbered, so no arrow crosses
runs. Each run gets a separator. The first run is marked as warm-up when it took more than 1.5 times
the median of the others.

  --layout wall             true gaps between the runs (default)
  --layout sequence         one after another, gaps closed
  --layout stack            every run a group of its own, all starting at 0, for comparison
  --align auto|clock|start|step|sync   what is brought together: the clocks, the beginnings, the first
                            steps, or the ends of shared collectives (auto: clock, else start)
  --align NAME=OFFSET       move one run, e.g. rank1=-3.5ms; may be repeated

  sonde timeline merge run_*.pb --layout sequence -o merged.json
  sonde timeline merge rank0.json rank1.json --align sync -o ranks.json
)";

constexpr std::string_view kStats =
    R"(sonde timeline stats IN...: what took the time

  --by KEY                  name (default), cat, op, lane, step, kernel, module, annotation, arg:KEY
  --top N                   rows (default 30 in the terminal, all elsewhere)
  --json, --csv             for programs; times in whole nanoseconds
  --include-warmup          count the warm-up run too

Self time is without the slices inside. Percent is of the wall span of the counted runs.
--by step owns each moment to one kind of work: kernel, communication, copy, memset, runtime call,
data loader, CPU; other is annotated time without recorded work, idle is nothing at all.

  sonde timeline stats run_*.pb --by op
  sonde timeline stats trace.json --by step --csv
)";

constexpr std::string_view kDiff =
    R"(sonde timeline diff BASE NEW: what got slower, what faster

Times are per step when both sides have steps. With five steps a side, differences that a bootstrap
interval of 95 % does not tell from 0 are marked as possible noise.

  --by KEY                  as in stats; --by step compares the steps alone
  --match name|stack|module what belongs together: the name without template arguments, addresses and
                            hashes (default), the whole call stack, the module
  --top N, --json, --csv
  -o OUT.json               both as one Chrome trace, BASE above NEW, aligned at the first step
  --fail-above PERCENT      exit code 4 when NEW's step is slower by more than that
)";

constexpr std::string_view kInfo =
    R"(sonde timeline info IN...: what is in a capture, what is damaged, what to do next

  --json                    for programs
)";

constexpr std::string_view kCut =
    R"(sonde timeline cut IN -o OUT: a part of a trace

  --from T --to T           times since the start: 250us, 3.5ms, 1s
  --step N or N..M          these steps
  --around NAME             the first slice whose name contains NAME, with as much before and behind

Slices that reach into the part are kept whole.
)";

constexpr std::string_view kView =
    R"(sonde timeline view IN...: look at captures in the browser

Starts a server on this machine with nothing but these captures and prints its address; Ctrl-C ends
it. The files are read where they are; nothing is written beside them.
)";

constexpr Text kTexts[] = {{"convert", kConvert}, {"merge", kMerge}, {"stats", kStats},
                           {"diff", kDiff},       {"info", kInfo},   {"cut", kCut},
                           {"view", kView}};

}  // namespace

std::string help(std::string_view command) {
  for (const Text& text : kTexts) {
    if (text.command != command) continue;
    std::string out(text.text);
    if (command != "view") out += kInputs;
    if (command == "convert" || command == "merge" || command == "cut") out += kOutputs;
    return out;
  }
  return std::string(kAll);
}

}  // namespace sonde::cli::timeline
