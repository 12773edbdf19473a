#include "capture/analysis/loop/loop.h"

#include <algorithm>

#include "capture/analysis/analysis.h"
#include "capture/analysis/loop/marks.h"
#include "capture/analysis/loop/rows.h"
#include "capture/analysis/pytorch/capture.h"

namespace sonde::capture::loop {
namespace {

using pytorch::append;
using pytorch::difference;
using pytorch::intersection;
using pytorch::merged;
using trace::SliceId;
using trace::TrackId;

// Operations of a checkpoint come with Python in between.
constexpr int64_t kCheckpointGapPs = 5'000'000'000;   // 5 ms
constexpr int64_t kCheckpointTailPs = 1'500'000'000;  // 1.5 ms
Ranges united(const Ranges& a, const Ranges& b) {
  Ranges all = a;
  all.insert(all.end(), b.begin(), b.end());
  return merged(std::move(all));
}

class Builder {
 public:
  explicit Builder(const HostAnalysis& host) : host_(host), trace_(host.trace()) {}

  Loop run() {
    read_words();
    Marks marks = marks_of(host_, words_, profiler_);
    if (marks.list.size() < 2) return std::move(loop_);
    loop_.thread = marks.thread;
    open_end_ = marks.open_end;
    loop_.marked = !open_end_;
    marks_ = std::move(marks.list);
    make_periods();
    if (loop_.periods.empty()) return std::move(loop_);
    read_thread();
    read_others();
    loop_.doubtful = marks.rounds && loop_.has_device;
    loop_.chains = rows_of(calls_, loop_.periods,
                           loop_.pytorch ? RowKind::kPyTorch
                           : loop_.jax   ? RowKind::kJax
                                         : RowKind::kTensorFlow);
    loop_.nothing_ran = loop_.jax && hands_over_ && !runs_ && !loop_.has_device && xla_.empty();
    share_out();
    loop_.regions = std::move(region_);
    loop_.compiled =
        std::any_of(calls_.begin(), calls_.end(), [](const Call& call) { return call.function; });
    return std::move(loop_);
  }

 private:
  void read_words() {
    words_.reserve(trace_.labels().size());
    loop_.pytorch = host_.is_pytorch();
    for (size_t i = 0; i < trace_.labels().size(); ++i) {
      const std::string_view name = trace_.text(trace_.labels()[i].name);
      words_.push_back(loop_.pytorch ? torch_word(i, name) : word_of(name));
      const bool frame = words_.back() == Word::kFrame;
      saves_.push_back(frame && saves(frame_of(name)));
      profiler_.push_back(frame && is_profiler(frame_of(name)));
      books_.push_back(frame && keeps_books(frame_of(name)));
      // Who asks for a batch, told from stages that make elements ahead.
      asks_.push_back(name.find("IteratorGetNext") != std::string_view::npos ||
                      name == "Iterator::Root" || name == "Iterator::Model");
      if (loop_.pytorch) {
        region_.push_back(host_.pytorch().words.labels[i].kind == pytorch::Kind::kAnnotation &&
                          words_.back() == Word::kMark);
        loop_.keras |= name.find("keras/") != std::string_view::npos;
        continue;
      }
      region_.push_back(words_.back() == Word::kCall && !is_framework_call(name));
      loop_.jax |= name.starts_with("PjitFunction") || name.starts_with("PjRt") ||
                   name.find("CommonPjRt") != std::string_view::npos;
      loop_.keras |= name.starts_with("Profiled batch") ||
                     name.find("multi_step_on_iterator") != std::string_view::npos ||
                     name.find("train_on_batch") != std::string_view::npos ||
                     name.find("keras") != std::string_view::npos;
      hands_over_ |= name.find("PjRtLoadedExecutable::Execute") != std::string_view::npos;
      runs_ |= name.starts_with("ThunkExecutor::");
      tensorflow_ |= name == "EagerExecute" || name.starts_with("TFE_");
    }
    if (tensorflow_) loop_.jax = false;
  }

  Word torch_word(size_t label, std::string_view name) const {
    using pytorch::Kind;
    const pytorch::LabelWord& word = host_.pytorch().words.labels[label];
    if (word.is_communication) return Word::kCommunication;
    switch (word.kind) {
      case Kind::kStep:
        return Word::kMark;
      case Kind::kAnnotation:
        if (is_torch_compile(name)) return Word::kCompile;
        return Word::kMark;
      case Kind::kOptimizer:
        return Word::kMark;
      case Kind::kDataLoader:
        return Word::kInput;
      case Kind::kCommunication:
        return Word::kCommunication;
      case Kind::kModule:
      case Kind::kPython:
        return Word::kFrame;
      case Kind::kOperator:
        if (name.starts_with("DistributedDataParallel.") || name.starts_with("DataParallel."))
          return Word::kMark;
        return is_torch_compile(name) ? Word::kCompile : Word::kCall;
      case Kind::kLaunch:
        return Word::kCall;
      default:
        return Word::kSkip;
    }
  }

  void make_periods() {
    std::vector<double> gaps, lengths;
    for (size_t i = 0; i < marks_.size(); ++i) {
      Period p;
      p.begin = marks_[i].begin;
      p.end =
          i + 1 < marks_.size() ? marks_[i + 1].begin : std::max(marks_[i].end, marks_[i].begin);
      p.marked_end = std::min(marks_[i].end, p.end);
      p.between_ps = p.end - p.marked_end;
      if (p.length() <= 0) continue;
      if (i + 1 < marks_.size()) {
        gaps.push_back(static_cast<double>(p.between_ps));
        lengths.push_back(static_cast<double>(p.length()));
      }
      loop_.periods.push_back(p);
    }
    // What follows the last step is not known; without it the period is no period.
    if (loop_.periods.size() >= 2 && (open_end_ || median(gaps) > 0.05 * median(lengths)))
      loop_.periods.pop_back();
    for (const Period& p : loop_.periods) whole_.push_back({p.begin, p.end});
    whole_ = merged(std::move(whole_));
  }

  // --- the loop's own thread ---

  void read_thread() {
    const trace::Track& track = trace_.tracks()[loop_.thread];
    const trace::KeyId traced = loop_.pytorch ? trace::kNone : host_.words().key.tf_function_call;
    int64_t frame_save_end = INT64_MIN, retrace_end = INT64_MIN, retrace_from = 0;
    size_t period = 0;
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      const Word word = words_[trace_.label_id(s)];
      const int64_t begin = trace_.begin(s).value, end = trace_.end(s).value;
      if (word == Word::kSkip || end <= begin) continue;
      if (end <= whole_.front().begin) continue;
      if (begin >= whole_.back().end) break;
      while (period + 1 < loop_.periods.size() && loop_.periods[period].end <= begin) ++period;
      loop_.periods[period].slices += begin >= loop_.periods[period].begin;
      if (word == Word::kFrame) {
        loop_.has_python = true;
        if (profiler_[trace_.label_id(s)]) append(mine_profiler_, {begin, end});
        if (books_[trace_.label_id(s)] && !around_a_step(begin, end))
          append(mine_books_, {begin, end});
        // An operator of PyTorch that calls Python: a hook, a function of one's own.
        if (loop_.pytorch && !calls_.empty() && end <= calls_.back().end)
          append(inner_frames_, {begin, end});
        if (begin >= frame_save_end && saves_[trace_.label_id(s)] && !around_a_step(begin, end)) {
          frame_save_end = end;
          append(mine_checkpoint_, {begin, end});
        }
        continue;
      }
      if (is_mark(s, begin, end)) continue;
      if (!inner_frames_.empty() && end <= inner_frames_.back().end)
        append(inner_calls_, {begin, end});
      if (traced != trace::kNone &&
          trace_.text_of(trace_.find(trace_.args(s), traced)).starts_with("traced-")) {
        retrace_from = begin, retrace_end = end;
      }
      if (word == Word::kFunction && begin < retrace_end) {  // traced; now it runs
        append(mine_compile_, {retrace_from, begin});
        retrace_end = INT64_MIN;
      }
      add_call(s, word, begin, end);
    }
    while (!open_.empty()) close_slice();
    if (retrace_end != INT64_MIN) append(mine_compile_, {retrace_from, retrace_end});
    for (Call& call : calls_) {
      if (call.compile_end > 0) append(mine_compile_, {call.begin, call.compile_end});
      append(mine_calls_, {call.begin, call.end});
    }
    join_checkpoints();
    mine_compile_ = merged(std::move(mine_compile_));
    mine_input_ = merged(std::move(mine_input_));
    mine_callback_ = merged(std::move(mine_callback_));
    mine_communication_ = merged(std::move(mine_communication_));
    mine_calls_ = merged(std::move(mine_calls_));
  }

  // A function of JAX that calls others, which run their programs, was not compiled (disable_jit).
  bool calls_functions(SliceId s, int64_t begin, int64_t end) const {
    if (!loop_.jax || !trace_.name(s).starts_with("PjitFunction(")) return false;
    if (!calls_.empty() && begin < calls_.back().end) return false;
    const trace::Track& track = trace_.tracks()[loop_.thread];
    uint32_t others = 0;
    for (SliceId inner = s + 1; inner < track.first_slice + track.slices; ++inner) {
      if (trace_.begin(inner).value >= end) break;
      const Word word = words_[trace_.label_id(inner)];
      if (word == Word::kCompile || word == Word::kCallback) return false;
      others += trace_.label_id(inner) != trace_.label_id(s) &&
                trace_.name(inner).starts_with("PjitFunction(");
    }
    return others >= 2;
  }

  // Annotations, functions of the user that carry one, and steps say where, not what.
  bool is_mark(SliceId s, int64_t begin, int64_t end) const {
    if (words_[trace_.label_id(s)] == Word::kMark || calls_functions(s, begin, end)) return true;
    if (loop_.pytorch) return false;
    // What the program itself marked: no call of the framework is around it.
    const bool inside = !calls_.empty() && begin < calls_.back().end;
    if (region_[trace_.label_id(s)] && !inside) return true;
    // The slice that marks a step, or one around it.
    const auto at = std::partition_point(loop_.periods.begin(), loop_.periods.end(),
                                         [&](const Period& p) { return p.begin < begin; });
    if (at != loop_.periods.end() && at->begin == begin && end >= at->marked_end) {
      // Steps that were derived from calls of a program are those calls.
      return !trace_.name(s).starts_with("PjitFunction(") &&
             words_[trace_.label_id(s)] != Word::kFunction;
    }
    if (words_[trace_.label_id(s)] != Word::kCall) return false;
    const auto kind = trace_.find(trace_.args(s), host_.words().key.tf_function_call);
    return kind.has_value();  // "train": Python around the call of a compiled function
  }

  // A function that a step begins in is one of the loop's own.
  bool around_a_step(int64_t begin, int64_t end) const {
    const auto next = std::partition_point(loop_.periods.begin(), loop_.periods.end(),
                                           [&](const Period& p) { return p.begin <= begin; });
    return next != loop_.periods.end() && next->begin < end;
  }

  void add_call(SliceId s, Word word, int64_t begin, int64_t end) {
    switch (word) {
      case Word::kInput:
        append(mine_input_, {begin, end});
        break;
      case Word::kCheckpoint:
        append(mine_checkpoint_ops_, {begin, end});
        break;
      case Word::kCallback:
        append(mine_callback_, {begin, end});
        break;
      case Word::kCommunication:
        append(mine_communication_, {begin, end});
        break;
      default:
        break;
    }
    const bool outermost = calls_.empty() || begin >= calls_.back().end;
    if (outermost) {
      while (!open_.empty()) close_slice();
      calls_.push_back({begin, end, trace_.label_id(s)});
    }
    Call& call = calls_.back();
    while (!open_.empty() && open_.back().end <= begin) close_slice();
    open_.push_back({end, end - begin, end - begin});
    // Of TensorFlow the operations inside count; of the others the call is one.
    if (tensorflow_) {
      call.operations += trace_.name(s) == "EagerExecute";
    } else {
      call.operations = 1;
    }
    if (end > call.end) call.end = end;
    call.function |= word == Word::kFunction;
    call.other |= word == Word::kInput || word == Word::kCallback || word == Word::kCommunication;
    call.checkpoint |= word == Word::kCheckpoint;
    if (word == Word::kCompile) call.compile_end = std::max(call.compile_end, end);
  }

  // What an open slice does itself is known when it ends.
  void close_slice() {
    const Open slice = open_.back();
    open_.pop_back();
    Call& call = calls_.back();
    call.longest_ps = std::max(call.longest_ps, slice.self);
    if (!open_.empty()) open_.back().self -= slice.length;
  }

  // Names are joined before the operations of a checkpoint, and files renamed after them, in Python
  // that is not recorded: up to the work on either side, where that is no longer than the rest.
  Range grown(Range core) const {
    const int64_t limit = std::max(kCheckpointGapPs, core.length());
    int64_t from = INT64_MIN, to = INT64_MAX;
    const auto period = std::partition_point(loop_.periods.begin(), loop_.periods.end(),
                                             [&](const Period& p) { return p.end <= core.begin; });
    if (period != loop_.periods.end() && period->begin <= core.begin) {
      from = period->begin;
      if (period->end >= core.end) to = period->end;
    }
    const auto next = std::partition_point(calls_.begin(), calls_.end(),
                                           [&](const Call& call) { return call.begin < core.end; });
    if (next != calls_.end()) to = std::min(to, next->begin);
    for (auto call = next; call != calls_.begin();) {
      --call;
      if (call->end < core.begin - limit) break;
      const bool work = call->function || call->other || call->compile_end > 0;
      if (!work || call->end > core.begin) continue;
      from = std::max(from, call->end);
      break;
    }
    if (from != INT64_MIN && core.begin - from <= limit) core.begin = from;
    if (to != INT64_MAX && to - core.end <= limit) core.end = to;
    return core;
  }

  // A checkpoint is its operations with the small ones and the Python around them, as long as no
  // step runs there.
  void join_checkpoints() {
    int64_t open = INT64_MIN, last = INT64_MIN;
    // Where the small calls before it began: names are joined, values are collected.
    int64_t before = INT64_MIN, before_end = INT64_MIN;
    const auto close = [&] {
      if (open != INT64_MIN) append(mine_checkpoint_, grown({open, last}));
      open = before = INT64_MIN;
    };
    for (const Call& call : calls_) {
      if (call.checkpoint) {
        const bool near = before != INT64_MIN && call.begin - before < kCheckpointGapPs;
        if (open == INT64_MIN) open = near ? before : call.begin;
        last = call.end;
        continue;
      }
      const bool work = call.function || call.other || call.compile_end > 0;
      if (open != INT64_MIN) {
        if (work || call.begin - last > kCheckpointGapPs) {
          close();
        } else if (call.begin - last < kCheckpointTailPs) {
          last = call.end;
        }
      }
      if (work) {
        before = INT64_MIN;
      } else if (before == INT64_MIN || call.begin - before_end > kCheckpointTailPs ||
                 call.end - before > kCheckpointGapPs) {
        before = call.begin;
      }
      before_end = call.end;
    }
    close();
    mine_checkpoint_ = merged(std::move(mine_checkpoint_));
    mine_checkpoint_ = united(mine_checkpoint_, merged(std::move(mine_checkpoint_ops_)));
  }

  // --- everything else that runs ---

  void read_others() {
    if (loop_.pytorch) {
      read_torch_threads();
      return;
    }
    const Vocabulary& words = host_.words();
    for (const auto* planes : {&words.gpu_planes, &words.tpu_planes}) {
      for (const TrackId plane : *planes) {
        for (const TrackId t : lines_of(trace_, plane)) {
          const std::string_view line = trace_.track_name(t);
          if (words.derived[t] || line == "Steps" || line == "XLA Modules" || line == "XLA TraceMe")
            continue;
          read_device_line(trace_.tracks()[t]);
        }
      }
    }
    for (const TrackId plane : words.host_planes) {
      for (const TrackId t : lines_of(trace_, plane)) {
        if (t != loop_.thread) read_host_line(trace_.tracks()[t], pool_of(trace_.track_name(t)));
      }
    }
    finish_others();
  }

  void read_device_line(const trace::Track& track) {
    Ranges own;
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s)
      append(own, {trace_.begin(s).value, trace_.end(s).value});
    loop_.has_device |= !own.empty();
    device_.insert(device_.end(), own.begin(), own.end());
  }

  void read_host_line(const trace::Track& track, Pool pool) {
    Ranges compute, container, input, callback, compile, communication;
    // A thread that lost its core after the last operation still stands in the executor: that is no
    // work. One around nothing recorded is taken as it is.
    Range around{0, 0};
    int64_t inner_end = INT64_MIN;
    const auto close = [&] {
      if (around.end > around.begin)
        append(container, {around.begin, inner_end == INT64_MIN ? around.end : inner_end});
      around = {0, 0};
      inner_end = INT64_MIN;
    };
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      const Range range{trace_.begin(s).value, trace_.end(s).value};
      const Word word = words_[trace_.label_id(s)];
      if (range.begin >= around.end) close();
      if (word == Word::kCall && range.begin < around.end)
        inner_end = std::max(inner_end, std::min(range.end, around.end));
      switch (word) {
        case Word::kInput:
          if (pool != Pool::kTfData || asks_[trace_.label_id(s)]) append(input, range);
          break;
        case Word::kCallback:
          append(callback, range);
          break;
        case Word::kCompile:
          append(compile, range);
          break;
        case Word::kCommunication:
          append(communication, range);
          break;
        case Word::kContainer:
          if (pool == Pool::kXla) {
            if (around.end <= around.begin) around = range;
          } else {
            append(container, range);
          }
          break;
        case Word::kWait:  // for the rest of the same program
          append(container, range);
          break;
        case Word::kCall:
        case Word::kFunction:
        case Word::kCheckpoint:
          append(pool == Pool::kCompiler ? compile : compute, range);
          break;
        default:
          break;
      }
    }
    close();
    const auto add = [](Ranges& to, const Ranges& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    add(other_compile_, compile);
    if (pool == Pool::kPython || pool == Pool::kCompiler) return;
    // Elements are made ahead on these threads; only the call that asks for one is a wait.
    add(other_input_, input);
    if (pool == Pool::kTfData) return;
    callback = merged(std::move(callback));
    // What a callback calls is part of it.
    compute = difference(merged(std::move(compute)), callback);
    container = merged(std::move(container));
    if (pool == Pool::kXla) {
      add(xla_, compute);
      add(xla_container_, container);
      add(xla_callback_, callback);
      add(other_communication_, communication);
    } else {
      container = difference(container, callback);
      add(executor_, compute);
      add(executor_operations_, compute);
      add(executor_, difference(container, merged(std::move(input))));
      add(executor_callback_, callback);
      add(other_communication_, communication);
    }
  }

  void read_torch_threads() {
    const pytorch::Capture& c = host_.pytorch();
    for (const pytorch::DeviceEvent& event : c.device) {
      append(event.is_communication ? other_communication_ : device_, {event.begin, event.end});
      loop_.has_device = true;
    }
    for (TrackId t = 0; t < trace_.tracks().size(); ++t) {
      const trace::Track& track = trace_.tracks()[t];
      if (t == loop_.thread || track.slices == 0 || track.kind != trace::TrackKind::kThread)
        continue;
      Ranges compute, communication;
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        const Word word = words_[trace_.label_id(s)];
        if (pytorch::is_device(c.words.of(trace_, s).kind)) continue;
        const Range range{trace_.begin(s).value, trace_.end(s).value};
        if (word == Word::kCommunication) append(communication, range);
        if (word == Word::kCall) append(compute, range);
      }
      xla_.insert(xla_.end(), compute.begin(), compute.end());
      other_communication_.insert(other_communication_.end(), communication.begin(),
                                  communication.end());
    }
    finish_others();
  }

  void finish_others() {
    for (Ranges* list :
         {&device_, &xla_, &xla_callback_, &executor_, &executor_operations_, &executor_callback_,
          &other_input_, &other_compile_, &other_communication_})
      *list = merged(std::move(*list));
    // A program that waits for a callback runs, but does not compute.
    xla_container_ =
        difference(merged(std::move(xla_container_)), united(mine_callback_, xla_callback_));
    xla_ = united(xla_, xla_container_);
  }

  // --- one act a moment ---

  void give(Act act, const Ranges& ranges) {
    const Ranges taken = intersection(ranges, free_);
    if (taken.empty()) return;
    free_ = difference(free_, taken);
    Ranges& list = loop_.moments[static_cast<size_t>(act)];
    list = united(list, taken);
  }

  void share_out() {
    free_ = whole_;
    Ranges chained;
    for (const Chain& chain : loop_.chains) append(chained, {chain.begin, chain.end});
    const Ranges in_call = intersection(mine_calls_, whole_);
    give(Act::kCompute, device_);
    give(Act::kCheckpoint, difference(mine_checkpoint_, xla_));
    give(Act::kInput, difference(mine_input_, xla_));
    give(Act::kCompile, mine_compile_);
    give(Act::kCompile, difference(intersection(other_compile_, in_call), xla_));
    give(Act::kCallback, difference(united(mine_callback_, xla_callback_), xla_));
    // Another thread of the executor that runs no operation meanwhile waits for it, too.
    give(Act::kCallback,
         difference(intersection(executor_callback_, in_call), executor_operations_));
    give(Act::kPython, merged(std::move(mine_books_)));
    give(Act::kPython,
         difference(merged(std::move(inner_frames_)), merged(std::move(inner_calls_))));
    give(Act::kOpByOp, difference(chained, other_communication_));
    give(Act::kCompute, xla_);
    give(Act::kCompute, intersection(executor_, in_call));
    give(Act::kInput, intersection(other_input_, in_call));
    give(Act::kCommunication, mine_communication_);
    if (loop_.pytorch) {
      give(Act::kCompute, in_call);
      give(Act::kCommunication, other_communication_);
    } else {
      give(Act::kCommunication, intersection(other_communication_, in_call));
      give(Act::kCompute, in_call);
    }
    give(Act::kProfiler, merged(std::move(mine_profiler_)));
    give(loop_.has_python ? Act::kPython : Act::kUnrecorded, Ranges(free_));
    for (Period& p : loop_.periods) {
      for (size_t a = 0; a < kActCount; ++a)
        p.ps[a] = pytorch::total_inside(loop_.moments[a], {p.begin, p.end});
    }
  }

  const HostAnalysis& host_;
  const trace::Trace& trace_;
  Loop loop_;
  bool tensorflow_ = false;
  bool hands_over_ = false, runs_ = false;  // JAX: names of programs handed over, and running
  bool open_end_ = false;                   // the marks are no steps, but come once in each
  std::vector<Word> words_;                 // by label
  // By label: functions that save, of the profiler, of libraries that log; calls for a batch.
  std::vector<bool> saves_, profiler_, books_, asks_;
  std::vector<bool> region_;  // by label: what the program itself may have marked
  std::vector<Mark> marks_;
  struct Open {
    int64_t end, length, self;
  };
  std::vector<Open> open_;  // slices of the last call that have not ended
  std::vector<Call> calls_;
  Ranges whole_, free_;
  Ranges mine_checkpoint_, mine_checkpoint_ops_, mine_compile_, mine_input_, mine_callback_,
      mine_communication_, mine_calls_, mine_profiler_, mine_books_;
  Ranges inner_frames_, inner_calls_;  // functions that an operator calls, and what those call
  Ranges device_, xla_, xla_container_, xla_callback_, executor_, executor_operations_,
      executor_callback_, other_input_, other_compile_, other_communication_;
};

}  // namespace

std::string_view act_name(Act act) {
  static constexpr std::string_view kNames[] = {
      "Computing",     "Waiting for input", "Compiling",    "Checkpoints", "Callbacks into Python",
      "Communication", "Op by op",          "The profiler", "Python",      "Nothing recorded"};
  return kNames[static_cast<size_t>(act)];
}

Loop loop_of(const HostAnalysis& host) { return Builder(host).run(); }

}  // namespace sonde::capture::loop
