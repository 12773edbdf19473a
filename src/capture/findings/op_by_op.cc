// Operations handed over one at a time, and single elements that are read.
#include <fmt/format.h>

#include <algorithm>

#include "capture/findings/rules.h"

namespace sonde::capture::findings {
namespace {

using loop::Act;

constexpr double kRowShare = 0.25;  // of a period

// Calls a period of each name among the outermost ones of the rows.
struct Row {
  double calls = 0;       // a period
  std::string most;       // the operation called most often
  double most_calls = 0;  // a period
};
Row row_of(const Rules& r) {
  Row row;
  const double periods = static_cast<double>(r.loop->periods.size());
  for (const loop::Chain& chain : r.loop->chains) {
    const bool inside =
        chain.begin >= r.loop->periods.front().begin && chain.begin < r.loop->periods.back().end;
    if (inside) row.calls += chain.operations / periods;
  }
  const trace::Trace& trace = r.pace->trace();
  for (const loop::Culprit& c : culprits(trace, *r.loop, r.loop->of(Act::kOpByOp))) {
    std::string_view name = trace.text(trace.labels()[c.label].name);
    constexpr std::string_view kLocal = "EagerLocalExecute: ";
    const bool is_op =
        name.starts_with(kLocal) || name.starts_with("PjitFunction(") || name.starts_with("aten::");
    if (!is_op) continue;
    if (name.starts_with(kLocal)) name = name.substr(kLocal.size());
    const double calls = c.count / periods;
    // Views cost nothing by themselves; the operation they are made for is the one to name.
    const bool view = name == "aten::select" || name == "aten::as_strided" || name == "aten::slice";
    const bool better = calls > row.most_calls || row.most == "aten::select";
    if ((view && !row.most.empty()) || !better) continue;
    row.most_calls = calls;
    row.most = name;
  }
  return row;
}

// Whether most calls from the first element read in a step to the last read elements: what comes
// before and after may be small operations of the model.
bool reads_scalars(const trace::Trace& trace, const Rules& r, double& calls) {
  const trace::Track& track = trace.tracks()[r.loop->thread];
  const double periods = static_cast<double>(r.loop->periods.size());
  uint32_t items = 0, others = 0;
  trace::SliceId s = track.first_slice;
  const trace::SliceId last = track.first_slice + track.slices;
  for (const loop::Period& p : r.loop->periods) {
    uint32_t since = 0;  // outermost operators since the last element
    int64_t covered = INT64_MIN;
    bool begun = false;
    for (; s < last && trace.begin(s).value < p.end; ++s) {
      const std::string_view name = trace.name(s);
      if (trace.begin(s).value < p.begin || trace.begin(s).value < covered ||
          !name.starts_with("aten::"))
        continue;
      covered = trace.end(s).value;
      if (name == "aten::item") {
        ++items;
        if (begun) others += since;
        begun = true;
        since = 0;
      } else if (name != "aten::select" && name != "aten::to") {
        ++since;
      }
    }
  }
  calls = items / periods;
  return calls >= 20 && items >= others / 2;
}

// Of a usual period, the part of the rows from the first read element to the last: what comes before
// and after may be small operations of the model.
double reading_ms(const trace::Trace& trace, const Rules& r) {
  const trace::Track& track = trace.tracks()[r.loop->thread];
  std::vector<double> each;
  trace::SliceId s = track.first_slice;
  const trace::SliceId last = track.first_slice + track.slices;
  for (const size_t i : r.rhythm.usual) {
    const loop::Period& p = r.loop->periods[i];
    pytorch::Range window{p.end, p.begin};
    for (; s < last && trace.begin(s).value < p.end; ++s) {
      if (trace.begin(s).value < p.begin || trace.name(s) != "aten::item") continue;
      window.begin = std::min(window.begin, trace.begin(s).value);
      window.end = std::max(window.end, trace.end(s).value);
    }
    each.push_back(
        window.end <= window.begin
            ? 0.0
            : static_cast<double>(pytorch::total_inside(r.loop->of(Act::kOpByOp), window)) / 1e9);
  }
  return r.typical(std::move(each));
}

void read_elements(const Rules& r, Finding& f, double ms, double calls) {
  f.id = "ITEM";
  f.text = fmt::format(
      "{} read single elements: {:.0f} calls of aten::item a step, with Python between them.",
      r.of_step(ms), calls);
  f.action =
      "Read a tensor once and all at once (tolist(), or sum() and mean() on the tensor), and keep "
      "numbers as tensors until they are printed.";
  f.diff = "-total = sum(v[i].item() for i in range(len(v)))\n+total = v.sum().item()";
  f.numbers = {{"calls", calls}, {"ms", ms}};
  f.evidence = {{"trace_viewer", "aten::item"}};
  gain(f, ms, r.rhythm.usual_ms);
}

void add_numbers(Rules& r, Finding& f, const Row& row, double ms) {
  f.numbers = {{"calls", row.calls}, {"ms", ms}, {"percent", 100 * ratio(ms, r.rhythm.usual_ms)}};
  f.evidence = {{"trace_viewer", row.most}};
  gain(f, ms, r.rhythm.usual_ms);
  r.found.push_back(std::move(f));
}

}  // namespace

void op_by_op(Rules& r) {
  const double ms = r.usual_ms(Act::kOpByOp), share = ratio(ms, r.rhythm.usual_ms);
  // Where most of the small operations are the optimizer's, that is what to say.
  const bool told = std::any_of(r.found.begin(), r.found.end(), [&](const Finding& f) {
    return f.fired && f.id == "OPT-FUSED" &&
           std::any_of(f.numbers.begin(), f.numbers.end(), [&](const auto& number) {
             return number.first == "optimizer_ms" && number.second >= 0.7 * ms;
           });
  });
  // Beside a device the host may be slow as long as it is ahead; rounds of small operations are no
  // steps there.
  const bool fired = share >= kRowShare && !told && (r.loop->marked || !r.loop->has_device);
  Finding f = make(r.loop->pytorch ? "TINY-OPS" : "EAGER", fired, by_share(share));
  if (!fired) {
    f.text = fmt::format("{} hand over small operations one by one.", r.of_step(ms));
    f.numbers = {{"percent", 100 * share}};
    r.found.push_back(std::move(f));
    return;
  }
  const trace::Trace& trace = r.pace->trace();
  const Row row = row_of(r);
  const double each_us = 1e3 * ratio(ms, row.calls);
  double scalars = 0;
  if (r.loop->pytorch && reads_scalars(trace, r, scalars)) {
    read_elements(r, f, std::min(ms, reading_ms(trace, r)), scalars);
    r.found.push_back(std::move(f));
    return;
  }
  f.text = fmt::format(
      "{} go into {:.0f} small operations one at a time ({:.0f} us each with the Python between "
      "them{}).",
      r.of_step(ms), row.calls, each_us,
      row.most.empty() ? "" : fmt::format("; {:.0f} are {}", row.most_calls, row.most));
  if (r.loop->pytorch) {
    f.action =
        "The overhead of a call is larger than its work: let torch.compile fuse them, or write "
        "them as few operations on larger tensors (a fused cell, one batched product).";
    f.diff = "-loss = step(x)\n+step = torch.compile(step)\n+loss = step(x)";
  } else if (r.loop->jax) {
    f.text += " The step is not compiled as a whole.";
    f.action =
        "Compile the whole step with jax.jit: one program instead of one an operation; a loop of "
        "Python over small calls becomes jax.lax.scan or jax.vmap inside it.";
    f.diff = "+@jax.jit\n def step(params, batch):";
  } else {
    // Beside a compiled step, what reads variables saves or logs them.
    if (r.loop->compiled && row.most == "ReadVariableOp" && row.most_calls >= 0.3 * row.calls) {
      f.text += " They read the values of the variables, as saving or logging the weights does.";
      f.action =
          "Save or log the weights less often (every few hundred steps, at the end of an epoch), "
          "or in the background while the next steps run.";
      f.diff = r.loop->keras ? "-keras.callbacks.ModelCheckpoint(path, save_freq=1)\n"
                               "+keras.callbacks.ModelCheckpoint(path, save_freq='epoch')"
                             : "-save(variables)\n+if step % 500 == 0:\n+    save(variables)";
      add_numbers(r, f, row, ms);
      return;
    }
    f.text += r.loop->compiled ? " They run eagerly, outside of the compiled function."
                               : " The step runs eagerly, without tf.function.";
    f.action = r.loop->keras
                   ? "Let Keras compile the step: no run_eagerly=True (and no "
                     "tf.config.run_functions_eagerly), and put your own step into one tf.function."
                   : "Put the whole step into one function, so that TensorFlow runs it as a graph.";
    f.diff = r.loop->keras ? "-model.compile(..., run_eagerly=True)\n+model.compile(...)"
                           : "+@tf.function\n def train_step(x, y):";
  }
  add_numbers(r, f, row, ms);
}

}  // namespace sonde::capture::findings
